function draw() {
  const horizon = chosen("horizon"), drawn = {leaderboard: shown.leaderboard[horizon]};
  if (document.getElementById("chart-families")) drawn.families = shown.families[chosen("told")][horizon];
  for (const [name, figure] of Object.entries(drawn))
    if (document.getElementById("chart-" + name)) show(name, figure.traces, figure.layout);
  for (const part of document.querySelectorAll("[data-horizon]")) part.hidden = part.dataset.horizon !== horizon;
}
