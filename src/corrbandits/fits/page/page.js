function draw() {
  const model = chosen("model");
  show("models", shown.models.traces, shown.models.layout);
  for (const [name, figure] of Object.entries(shown.parameters[model])) show("parameter-" + name, figure.traces, figure.layout);
  for (const part of document.querySelectorAll("[data-model]")) part.hidden = part.dataset.model !== model;
  for (const part of document.querySelectorAll("[data-parameter]")) part.hidden = !(part.dataset.parameter in shown.parameters[model]);
}
