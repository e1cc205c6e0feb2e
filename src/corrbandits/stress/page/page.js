"use strict";
const shown = JSON.parse(document.getElementById("numbers").textContent);
const options = {displayModeBar: false};
const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`).value;
const copy = (value) => JSON.parse(JSON.stringify(value));
function draw() {
  const candidate = chosen("candidate"), time = chosen("time");
  const figures = {...shown.maps[candidate][time], ...shown.curves[time]};
  for (const [name, traces] of Object.entries(figures)) {
    Plotly.react("chart-" + name, copy(traces), copy(shown.layouts[name]), options);
  }
  document.getElementById("now").textContent = shown.said[candidate][time];
}
const fitted = new ResizeObserver((changed) => changed.forEach(({target}) => Plotly.Plots.resize(target)));
for (const input of document.querySelectorAll("input[type=radio]")) input.addEventListener("change", draw);
draw();
document.querySelectorAll(".chart").forEach((chart) => fitted.observe(chart));
