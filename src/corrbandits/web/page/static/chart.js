// Charts as SVG: lines, dots and bands over one axis, with the numbers as a table beside them.

import { h, s, table } from "./dom.js";
import { number } from "./numbers.js";
import { round } from "./places.js";

function ticks(low, high, most) {
  const step = round(((high - low) / most) * 1.9999) || 1;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

const known = (v) => v !== null && v !== undefined && Number.isFinite(v);

function range(series, given) {
  let [low, high] = [Infinity, -Infinity];
  for (const one of series) for (const v of [...(one.y ?? []), ...(one.low ?? []), ...(one.high ?? [])]) if (known(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (given) return given;
  if (low > high) return [0, 1];
  const pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [low >= 0 && low - pad < 0 ? 0 : low - pad, high + pad];
}

function line(x, y, X, Y) {
  let [d, pen] = ["", "M"];
  for (let k = 0; k < x.length; k++) {
    if (!known(y[k])) { pen = "M"; continue; }
    d += `${pen}${X(x[k]).toFixed(1)} ${Y(y[k]).toFixed(1)}`;
    pen = "L";
  }
  return d;
}

function band({ x, low, high }, X, Y) {
  const there = x.map((_, k) => k).filter((k) => known(low[k]) && known(high[k]));
  const edge = (values, list) => list.map((k) => `${X(x[k]).toFixed(1)} ${Y(values[k]).toFixed(1)}`).join("L");
  return there.length ? `M${edge(high, there)}L${edge(low, [...there].reverse())}Z` : "";
}

function drawn(series, X, Y) {
  return series.map((one) => {
    if (one.kind === "band") return s("path", { class: "band", d: band(one, X, Y) });
    if (one.kind === "dots") return s("g", { class: one.class ?? "dots1" }, one.x.map((x, k) => (known(one.y[k]) ? s("circle", { cx: X(x).toFixed(1), cy: Y(one.y[k]).toFixed(1), r: one.r ?? 3.5 }) : null)));
    return s("path", { class: one.class ?? "line1", d: line(one.x, one.y, X, Y), "stroke-linejoin": "round" });
  });
}

const sample = (one) => s("svg", { viewBox: "0 0 26 12", "aria-hidden": "true", width: 26, height: 12 },
  one.kind === "band" ? s("rect", { class: "band", width: 26, height: 12 }) : one.kind === "dots" ? s("g", { class: one.class ?? "dots1" }, s("circle", { cx: 13, cy: 6, r: 4 })) :
    s("path", { class: one.class ?? "line1", d: "M0 6h26" }));

/**
 * A figure of series {name, kind: line | dots | band, x, y | low and high, class}; `words` says in a sentence what is to
 * be seen, `cells` are the rows of the table with `heads`.
 */
export function chart({ title, words, across, up, series, ends, span, text = (v) => number(v), heads, cells, height = 240, picked, mark, card = ".card" }) {
  const host = h(`figure${card}.chart`);
  const readout = h("p.readout", words);
  const place = h("div");
  host.append(h("h2", title), place, h("ul.keys", series.filter((one) => one.name).map((one) => h("li", sample(one), one.name))), readout);
  if (cells) host.append(h("details", h("summary", "The numbers"), table(title, heads, cells, heads.map((_, k) => k).slice(1))));

  const draw = () => {
    const width = Math.max(place.clientWidth, 240);
    const every = series.flatMap((one) => one.x);
    let [x0, x1] = span ?? [every.reduce((a, b) => Math.min(a, b), Infinity), every.reduce((a, b) => Math.max(a, b), -Infinity)];
    if (!(x1 > x0)) [x0, x1] = [x0 - 1, x0 + 1];
    const [y0, y1] = range(series, ends);
    const marks = ticks(y0, y1, 4);
    const left = 14 + 7.4 * Math.max(...marks.map((v) => text(v).length), 1);
    const [right, top, base] = [12, 20, height - 34];
    const X = (v) => left + ((v - x0) / (x1 - x0)) * (width - left - right);
    const Y = (v) => base - ((v - y0) / (y1 - y0)) * (base - top);
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${title}. ${words}` },
      marks.map((v) => [s("path", { class: "rule", d: `M${left} ${Y(v).toFixed(1)}H${width - right}` }), s("text", { class: "soft", x: left - 7, y: Y(v) + 4, "text-anchor": "end", "font-size": 12.5 }, text(v))]),
      ticks(x0, x1, Math.max(width / 90, 2)).map((v) => s("text", { class: "soft", x: X(v), y: base + 17, "text-anchor": "middle", "font-size": 12.5 }, number(v, 6))),
      s("path", { class: "axis", d: `M${left} ${base}H${width - right}` }),
      up ? s("text", { class: "soft", x: 2, y: 12, "font-size": 12.5 }, up) : null,
      s("text", { class: "soft", x: width - right, y: height - 2, "text-anchor": "end", "font-size": 12.5 }, across),
      drawn(series, X, Y), known(mark) ? s("path", { class: "axis", "stroke-dasharray": "4 4", d: `M${X(mark).toFixed(1)} ${top}V${base}` }) : null);
    const nearest = (event) => {
      const box = svg.getBoundingClientRect();
      const v = x0 + ((((event.clientX - box.left) / box.width) * width - left) / (width - left - right)) * (x1 - x0);
      const xs = series.find((one) => one.lead)?.x ?? series.at(-1).x;
      return xs.reduce((found, x, k) => (Math.abs(x - v) < Math.abs(xs[found] - v) ? k : found), 0);
    };
    svg.addEventListener("pointermove", (event) => { if (cells) readout.textContent = cells[nearest(event)]?.map((cell, k) => `${heads[k]} ${cell}`).join(" · ") ?? words; });
    svg.addEventListener("pointerleave", () => { readout.textContent = words; });
    if (picked) svg.addEventListener("click", (event) => picked(nearest(event)));
    place.replaceChildren(svg);
  };
  let width = 0;
  new ResizeObserver(() => { if (place.clientWidth && Math.abs(place.clientWidth - width) > 2) { width = place.clientWidth; draw(); } }).observe(place);
  return host;
}
