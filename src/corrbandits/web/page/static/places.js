// Where arms lie on a picture: cells of a grid, points, a line, or nowhere.

const ROUNDING = 0.01; // of a step
const MOST_CELLS = 4; // per arm: with more holes than this it is no grid

/** How far right and up arms lie, in units in which both are as long; null if nobody knows. */
export function across({ axes, coordinates }) {
  if (!coordinates || !axes?.length || axes.length > 2) return null;
  if (axes.length === 1) return { x: coordinates.map((c) => c[0]), y: null, globe: false, shrink: 1 };
  const globe = axes[0] === "latitude";
  const middle = globe ? coordinates.reduce((sum, c) => sum + c[0], 0) / coordinates.length : 0;
  const shrink = globe ? Math.max(Math.cos((middle * Math.PI) / 180), 0.01) : 1;
  return { x: coordinates.map((c) => (globe ? c[1] * shrink : c[0])), y: coordinates.map((c) => (globe ? c[0] : c[1])), globe, shrink };
}

function steps(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  const span = high - low;
  if (span === 0) return { step: values.map(() => 0), count: 1, size: null };
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const gaps = sorted.slice(1).map((v, k) => v - sorted[k]).filter((gap) => gap > 1e-6 * span);
  if (!gaps.length) return null;
  const smallest = gaps.reduce((a, b) => Math.min(a, b));
  const near = gaps.filter((gap) => gap < 1.5 * smallest);
  const count = Math.round(span / (near.reduce((a, b) => a + b) / near.length));
  if (count > MOST_CELLS * values.length) return null;
  const size = span / count;
  const step = values.map((v) => Math.round((v - low) / size));
  if (values.some((v, k) => Math.abs((v - low) / size - step[k]) > ROUNDING)) return null;
  return { step, count: count + 1, size };
}

/** The grid that arms lie on: {column, row, columns, rows, wide, high}; null if they do not. */
export function lattice(places) {
  const n = places.x.length;
  if (n < 2) return null;
  const [c, r] = [steps(places.x), steps(places.y ?? places.x.map(() => 0))];
  if (!c || !r || c.count * r.count > MOST_CELLS * n) return null;
  if (new Set(c.step.map((k, i) => r.step[i] * c.count + k)).size < n) return null;
  return { column: c.step, row: r.step, columns: c.count, rows: r.count, wide: c.size ?? r.size, high: r.size ?? c.size };
}

/** A round number near a length: 1, 2 or 5 times a power of ten. */
export function round(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  return [5, 2, 1].find((k) => k * power <= length * 1.0001) * power || power;
}

/** Where each arm is drawn in a box so wide and at most so high: {kind, x, y, w, h, height, per, globe}. */
export function layout(arms, width, most) {
  const places = across(arms);
  if (!places) return { kind: "none" };
  if (!places.y) return { kind: "line", at: places.x };
  const grid = lattice(places);
  const [left, right, top, bottom] = grid ? [1, 1, 1, 1] : [26, 26, 30, 44];
  const span = (v) => v.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const [[x0, x1], [y0, y1]] = [span(places.x), span(places.y)];
  const [pad, rise] = grid ? [grid.wide, grid.high] : [0, 0];
  const [wide, high] = [x1 - x0 + pad || 1, y1 - y0 + rise || 1];
  const per = Math.min((width - left - right) / wide, (most - top - bottom) / high);
  const height = Math.ceil(high * per + top + bottom);
  const begin = (width - wide * per) / 2;
  const x = places.x.map((v) => begin + (v - x0 + pad / 2) * per);
  const y = places.y.map((v) => height - bottom - (v - y0 + rise / 2) * per);
  return { kind: grid ? "grid" : "points", x, y, w: pad * per, h: rise * per, height, per, globe: places.globe };
}
