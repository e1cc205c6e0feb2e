function draw() {
  const horizon = chosen("horizon"), told = chosen("told");
  const figures = {leaderboard: shown.leaderboard[horizon], families: shown.families[told][horizon]};
  for (const [name, figure] of Object.entries(figures)) show(name, figure.traces, figure.layout);
  for (const part of document.querySelectorAll("[data-horizon]")) part.hidden = part.dataset.horizon !== horizon;
}
