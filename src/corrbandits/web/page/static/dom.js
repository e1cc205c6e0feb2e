// Elements from a short notation, and words for those who listen.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, parts) {
  for (const part of parts) {
    if (part === null || part === undefined || part === false) continue;
    if (Array.isArray(part)) fill(node, part);
    else if (part instanceof Node) node.append(part);
    else if (typeof part === "object") attributes(node, part);
    else node.append(String(part));
  }
  return node;
}

function attributes(node, given) {
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
}

/** h("p.note#id", {attributes}, "text", node, ...): an HTML element; text is never markup. */
export function h(kind, ...parts) {
  const [, tag, id, classes] = /^([a-z0-9]+)(?:#([\w-]+))?((?:\.[\w-]+)*)$/.exec(kind);
  const node = document.createElement(tag);
  if (id) node.id = id;
  if (classes) node.className = classes.slice(1).replaceAll(".", " ");
  return fill(node, parts);
}

/** s("circle", {cx: 1}): an SVG element. */
export const s = (tag, ...parts) => fill(document.createElementNS(SVG, tag), parts);

export const $ = (id) => document.getElementById(id);

/** Put parts in place of what a node holds; what had the focus by its id, name or key has it again. */
export function show(node, ...parts) {
  const at = document.activeElement;
  const mark = node.contains(at) && (at.dataset.key ? `[data-key="${CSS.escape(at.dataset.key)}"]` : at.id && `#${CSS.escape(at.id)}`);
  node.replaceChildren();
  fill(node, parts);
  node.removeAttribute("aria-busy");
  node.hidden = !node.childNodes.length;
  if (mark) (node.querySelector(mark) ?? node.querySelector("button, input") ?? $("main")).focus({ preventScroll: true });
}

let held = null; // what is to be drawn once nobody presses
addEventListener("pointerdown", () => { held ??= new Set(); });
for (const end of ["pointerup", "pointercancel", "contextmenu", "blur"]) addEventListener(end, () => { held?.forEach((draw) => setTimeout(draw)); held = null; });

/** Whether somebody is pressing: what is drawn anew under a finger does not hear of the click, so it is drawn later. */
export const pressing = (draw) => held?.add(draw);

/** Say something to a screen reader. */
export function say(text) {
  const place = $("said");
  place.textContent = place.textContent === text ? `${text}\u00a0` : text;
}

let serial = 0;
export const unique = (stem) => `${stem}-${++serial}`;

/** A table with a caption; cells are texts or nodes, `numeric` the columns that are set to the right. */
export function table(caption, heads, rows, numeric = []) {
  const right = (k) => (numeric.includes(k) ? { class: "num" } : {});
  return h("div.scroll", { tabindex: 0, role: "region", "aria-label": caption }, h("table", h("caption.unseen", caption),
    h("thead", h("tr", heads.map((head, k) => h("th", { scope: "col" }, right(k), head)))),
    h("tbody", rows.map((row) => h("tr", row.map((cell, k) =>
      k ? h("td", { "data-head": heads[k] }, right(k), cell) : h("th", { scope: "row" }, cell)))))));
}

export const button = (text, click, kind = "") => h(`button${kind}`, { type: "button", onclick: click }, text);
