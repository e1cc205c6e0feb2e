// The map of a field as SVG. Arms of one colour are one path, so that ten thousand are drawn as fast as a hundred.

import { LEVELS, colours, levels, light } from "./colour.js";
import { h, s } from "./dom.js";
import { number } from "./numbers.js";
import { layout, round } from "./places.js";

const STAR = Array.from({ length: 10 }, (_, k) => {
  const [turn, r] = [(k * Math.PI) / 5 - Math.PI / 2, k % 2 ? 0.42 : 1];
  return [Math.cos(turn) * r, Math.sin(turn) * r];
});
const fixed = (v) => Math.round(v * 10) / 10;
const star = (x, y, r) => `M${STAR.map(([a, b]) => `${fixed(x + a * r)} ${fixed(y + b * r)}`).join("L")}Z`;
const circle = (x, y, r) => `M${fixed(x - r)} ${fixed(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
const square = (x, y, w, t) => `M${fixed(x - w / 2)} ${fixed(y - t / 2)}h${fixed(w)}v${fixed(t)}h${fixed(-w)}Z`;
const drop = (x, y, r) => `M${fixed(x)} ${fixed(y)}l${fixed(-0.72 * r)} ${fixed(-1.15 * r)}a${r} ${r} 0 1 1 ${fixed(1.44 * r)} 0Z`;

/** A sign on white and black, to be seen on every colour. */
const both = (d, width = 2) => [s("path", { class: "halo", d, "stroke-width": width + 2.6 }), s("path", { class: "mark", d, "stroke-width": width })];

export const SIGNS = {
  measured: (x, y, r) => [s("path", { class: "dotmark", d: circle(x, y, 0.3 * r), "stroke-width": 1.2 })],
  open: (x, y, r) => both(circle(x, y, 0.62 * r)),
  best: (x, y, r) => [s("path", { d: star(x, y, 0.85 * r), fill: "#fff", stroke: "#111", "stroke-width": 1.6, "stroke-linejoin": "round" })],
  next: (x, y, r) => [s("path", { class: "nextmark", d: drop(x, y + 0.2 * r, 0.62 * r), "stroke-width": 2 }), s("path", { d: circle(x, y - 0.98 * r, 0.22 * r), fill: "#fff" })],
  here: (x, y, r) => [s("path", { class: "heremark", d: circle(x, y, 0.55 * r), "stroke-width": 2.5 })],
  chosen: (x, y, r) => both(square(x, y, 1.7 * r, 1.7 * r), 2.5),
};

/** A map in a node. `picked(arm)` is called for a tap, a click or an arrow key. */
export class Field {
  constructor(host, arms, { picked = () => {}, label = "Map", most = 0.62 } = {}) {
    Object.assign(this, { host, arms, picked, label, most });
    this.width = 0;
    this.last = null;
    new ResizeObserver(() => { if (this.last && Math.abs(host.clientWidth - this.width) > 2) { this.width = 0; this.draw(this.last); } }).observe(host);
  }

  /** Draw {values, low, high, ramp, counts, open, next, best, chosen, here, route, trail, words(arm), text(value)}. */
  draw(given) {
    this.last = given;
    if (!this.width) this.place();
    if (this.plan.kind === "none" || this.plan.kind === "line") return;
    const { values, low, high, ramp } = given;
    const level = levels(values, low, high);
    this.paint(level, ramp);
    this.names(given, level);
    this.signs(given);
  }

  place() {
    this.width = Math.max(this.host.clientWidth, 200);
    this.plan = layout(this.arms, this.width, Math.max(innerHeight * this.most, 260));
    if (!this.plan.x) return;
    const { height, kind } = this.plan;
    const least = Math.min(this.plan.w, this.plan.h);
    this.radius = kind === "grid" ? Math.min(Math.max(least / (least < 30 ? 2 : 5), 4), 15) : 10;
    this.size = kind === "grid" ? 0 : this.dot();
    this.paths = Array.from({ length: LEVELS + 1 }, () => s("path", { class: kind === "grid" ? "crispy" : "" }));
    this.layer = { names: s("g", { "aria-hidden": "true" }), signs: s("g", { "aria-hidden": "true" }) };
    this.svg = s("svg", { class: "map", viewBox: `0 0 ${this.width} ${height}`, width: this.width, height, tabindex: 0, role: "application",
      "aria-roledescription": "map", "aria-label": `${this.label}. Arrow keys go from site to site; the same numbers are in the table below.` },
    this.paths, this.layer.names, this.layer.signs, this.scale());
    this.svg.addEventListener("click", (event) => this.click(event));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.host.removeAttribute("aria-busy");
    this.host.replaceChildren(this.svg);
  }

  dot() {
    const { x, y, height } = this.plan;
    return Math.min(Math.max(0.3 * Math.sqrt((this.width * height) / x.length), 3), 14);
  }

  paint(level, ramp) {
    const { x, y, w, h: t, kind } = this.plan;
    const parts = Array.from({ length: LEVELS + 1 }, () => []);
    for (let k = 0; k < level.length; k++) {
      const into = parts[level[k] < 0 ? LEVELS : level[k]];
      if (kind === "grid") into.push(`M${(x[k] - w / 2).toFixed(1)} ${(y[k] - t / 2).toFixed(1)}h${w.toFixed(1)}v${t.toFixed(1)}h${(-w).toFixed(1)}z`);
      else into.push(circle(x[k], y[k], this.size));
    }
    const shades = colours(ramp);
    this.paths.forEach((path, k) => {
      path.setAttribute("d", parts[k].join(""));
      if (k < LEVELS) path.setAttribute("fill", shades[k]);
      else path.setAttribute("class", "unknown crispy");
    });
  }

  names({ values, text, ramp }, level) {
    const { x, y, w, h: t, kind } = this.plan;
    const labels = [];
    const name = (k) => this.arms.names?.[k] ?? String(k);
    if (kind === "grid" && w >= 30 && t >= 22) {
      const two = t >= 46 && w >= 44;
      for (let k = 0; k < x.length; k++) {
        if (name(k).length * 7 > w - 4) continue;
        const fill = level[k] < 0 ? null : light(ramp, level[k]) ? "#000" : "#fff";
        const at = { x: fixed(x[k] - w / 2 + 5), y: fixed(y[k] - t / 2 + 15), "font-size": 12, class: level[k] < 0 ? "soft" : "" };
        labels.push(s("text", at, { fill }, name(k)));
        if (two && values[k] !== null) labels.push(s("text", { x: fixed(x[k]), y: fixed(y[k] + t / 2 - 7), "font-size": 12.5, "text-anchor": "middle", "font-weight": 600, fill }, text(values[k])));
      }
      for (const label of labels) if (label.getAttribute("fill")) label.style.fill = label.getAttribute("fill");
    } else if (kind === "points" && x.length <= 150) this.beside(labels, name);
    this.layer.names.replaceChildren(...labels);
  }

  /** Names beside points, where they do not cover another. */
  beside(labels, name) {
    const { x, y } = this.plan;
    const taken = x.map((px, k) => [px - this.size, y[k] - this.size, px + this.size, y[k] + this.size]);
    for (let k = 0; k < x.length; k++) {
      const wide = name(k).length * 7;
      const gap = this.size + 8;
      const right = x[k] + gap + wide < this.width;
      const left = right ? x[k] + gap : x[k] - gap - wide;
      const box = [left, y[k] - 7, left + wide, y[k] + 7];
      if (taken.some((b, other) => other !== k && b[0] < box[2] && b[2] > box[0] && b[1] < box[3] && b[3] > box[1])) continue;
      taken.push(box);
      labels.push(s("text", { class: "cut", x: fixed(left), y: fixed(y[k] + 4), "font-size": 12.5 }, name(k)));
    }
  }

  /** A line along sites. */
  line(along, ...kinds) {
    const { x, y } = this.plan;
    const d = `M${along.map((k) => `${fixed(x[k])} ${fixed(y[k])}`).join("L")}`;
    return along.length > 1 ? kinds.map((kind) => s("path", { class: kind, d })) : [];
  }

  /** The way from site to site, numbered; from where the team is, if that is known. */
  way(route, here) {
    const { x, y } = this.plan;
    return [this.line(here === null ? route : [here, ...route], "way"), route.map((k, stop) => s("g", { class: stop ? "stop" : "stop first" },
      s("circle", { cx: fixed(x[k]), cy: fixed(y[k]), r: 11 }), s("text", { x: fixed(x[k]), y: fixed(y[k] + 4.5), "font-size": 13, "text-anchor": "middle" }, stop + 1)))].flat();
  }

  signs({ counts, open = [], next = null, best = null, chosen = null, route = [], trail = [], here = null }) {
    const { x, y, w, h: t, kind } = this.plan;
    const r = this.radius;
    const low = kind === "grid" && w >= 44 && t >= 46; // below the name, beside the number
    const nodes = [];
    const put = (sign, k, dx = 0, dy = 0) => nodes.push(...SIGNS[sign](x[k] + dx, y[k] + dy, r));
    let dots = "";
    if (kind === "grid" && w > 7) counts?.forEach((n, k) => { if (n) dots += low ? circle(x[k] + w / 2 - 9, y[k] - t / 2 + 10, 3.4) : w >= 30 && t >= 22 ? circle(x[k] + w / 2 - 7, y[k] + t / 2 - 7, 3) : circle(x[k], y[k], Math.max(0.28 * r, 1.6)); });
    else if (kind === "points") counts?.forEach((n, k) => { if (n) dots += circle(x[k], y[k], Math.max(0.3 * this.size, 1.5)); });
    if (dots) nodes.push(s("path", { class: "dotmark", d: dots, "stroke-width": 1.1 }));
    nodes.push(...this.line(trail, "way under", "way"));
    if (route.length) nodes.push(...this.way(route, here));
    if (here !== null && here !== route[0]) put("here", here);
    if (kind === "points") { // above, around and below, so that all are seen at one site
      for (const k of open) nodes.push(...both(circle(x[k], y[k], this.size + 2)));
      if (best !== null) put("best", best, 0, this.size + 11);
      if (next !== null) put("next", next, 0, 1 - this.size);
    } else { // side by side in a cell
      for (const k of new Set([best, next, ...open])) {
        const there = [k === best && "best", open.includes(k) && "open", k === next && "next"].filter((sign) => sign && k !== null);
        there.forEach((sign, i) => put(sign, k, (i + (1 - there.length) / 2) * Math.min(2 * r, w / 3), sign === "next" ? 0.3 * r : 0));
      }
    }
    if (chosen !== null) nodes.push(...both(kind === "grid" ? square(x[chosen], y[chosen], Math.max(w, 10), Math.max(t, 10)) : circle(x[chosen], y[chosen], this.size + 5), 2.5));
    this.layer.signs.replaceChildren(...nodes);
  }

  /** A bar that says how long a stretch is; metres and kilometres on the globe. */
  scale() {
    const { per, height, globe, kind } = this.plan;
    if (kind === "grid" && !globe) return null;
    const metres = globe ? 111_195 : 1;
    const length = round((0.28 * this.width * metres) / per);
    const wide = (length / metres) * per;
    const words = !globe ? number(length) : length >= 1000 ? `${number(length / 1000)} km` : `${number(length)} m`;
    const [left, base] = [12, height - 8];
    return s("g", { "aria-hidden": "true" }, s("path", { class: "axis", fill: "none", "stroke-width": 2, d: `M${left} ${base - 5}v5h${fixed(wide)}v-5` }),
      s("text", { class: "cut", x: left + wide + 6, y: base, "font-size": 12.5 }, words));
  }

  nearest(px, py, fits = () => true) {
    const { x, y } = this.plan;
    let [found, least] = [null, Infinity];
    for (let k = 0; k < x.length; k++) {
      const d = (x[k] - px) ** 2 + (y[k] - py) ** 2;
      if (d < least && fits(k)) [found, least] = [k, d];
    }
    return found;
  }

  click(event) {
    const box = this.svg.getBoundingClientRect();
    const k = this.nearest(((event.clientX - box.left) / box.width) * this.width, ((event.clientY - box.top) / box.height) * this.plan.height);
    if (k !== null) this.picked(k);
  }

  key(event) {
    const turn = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!turn) return;
    event.preventDefault();
    const { x, y } = this.plan;
    const from = this.last.chosen ?? this.last.next ?? this.last.best;
    if (from === null || from === undefined) { this.picked(0); return; }
    const ahead = (k) => (x[k] - x[from]) * turn[0] + (y[k] - y[from]) * turn[1];
    const aside = (k) => Math.abs((x[k] - x[from]) * turn[1]) + Math.abs((y[k] - y[from]) * turn[0]);
    const k = this.nearest(x[from] + turn[0] * 8, y[from] + turn[1] * 8, (one) => one !== from && ahead(one) > 0.5 && aside(one) <= ahead(one) * 1.01);
    if (k !== null) this.picked(k);
    else if (from !== this.last.chosen) this.picked(from); // at the edge, and nothing is chosen yet
  }
}

/** A legend: the colours with their ends, and what signs mean. */
export function legend({ title, low, high, ramp, unknown, text, signs }) {
  const shades = colours(ramp);
  const bar = s("svg", { class: "ramp", viewBox: `0 0 ${LEVELS} 1`, preserveAspectRatio: "none", "aria-hidden": "true" },
    shades.map((fill, k) => s("rect", { x: k, width: 1.05, height: 1, fill })));
  const sign = (name) => s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, SIGNS[name](12, name === "next" ? 18 : 12, name === "next" ? 9 : 11));
  const blank = s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, s("rect", { class: "unknown", x: 3, y: 3, width: 18, height: 18 }));
  return h("div.legend", h("div", h("div.ends", h("span", text(low)), h("strong", title), h("span", text(high))), bar),
    h("ul.keys", signs.map(([name, words]) => h("li", sign(name), words)), unknown ? h("li", blank, "nothing known yet") : null));
}
