function draw() {
  const candidate = chosen("candidate"), time = chosen("time");
  const figures = {...shown.maps[candidate][time], ...shown.curves[time]};
  for (const [name, traces] of Object.entries(figures)) show(name, traces, shown.layouts[name]);
  document.getElementById("now").textContent = shown.said[candidate][time];
}
