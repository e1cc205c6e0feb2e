const shown = JSON.parse(document.getElementById("numbers").textContent);
const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`).value;
const copy = (value) => JSON.parse(JSON.stringify(value));
function show(name, traces, layout) {
  Plotly.react("chart-" + name, copy(traces), copy(layout), {displayModeBar: false});
}
const fitted = new ResizeObserver((changed) => changed.forEach(({target}) => Plotly.Plots.resize(target)));
for (const input of document.querySelectorAll("input[type=radio]")) input.addEventListener("change", draw);
draw();
document.querySelectorAll(".chart").forEach((chart) => fitted.observe(chart));
