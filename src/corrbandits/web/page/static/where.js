// Where the team is, and what the way from there costs.

import { study } from "./api.js";
import { distance, number } from "./numbers.js";
import { apart } from "./walk.js";

const STORE = `where ${study}`;
const DAY = 12 * 3600; // seconds for which a place is taken for today's

let held = null; // where the browser keeps nothing
function kept() {
  try { return JSON.parse(localStorage.getItem(STORE)) ?? held; } catch { return held; }
}

/** Note where the team is: at a site where they have just measured, or where they said. */
export function stand({ arm, name, coordinates = null }) {
  held = { arm, name, coordinates, at: Date.now() / 1000 };
  try { localStorage.setItem(STORE, JSON.stringify(held)); } catch { /* until the page is closed */ }
}

/** The site where the team is: the one last noted here today; otherwise the one last measured by anybody. */
export function position({ last = [] }) {
  const [own, newest] = [kept(), last[0] ?? null];
  if (own && (!newest || Date.now() / 1000 - own.at < DAY || own.at > newest.at)) return own;
  return newest && { arm: newest.arm, name: newest.name, coordinates: newest.coordinates };
}

/** How far it is as the rule has it, in km on the globe; null where that is not known here, as on a graph. */
function far(from, to, { distance: kind, own_places: elsewhere }) {
  if (elsewhere || !from.coordinates || !to.coordinates) return null;
  if (kind === "great_circle") return apart(from.coordinates, to.coordinates) / 1000;
  const gaps = Object.keys(from.coordinates).map((axis) => from.coordinates[axis] - to.coordinates[axis]);
  return kind === "euclidean" ? Math.hypot(...gaps) : kind === "cityblock" ? gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) : null;
}

/** What it costs to go from one site to another; null where nothing does, or where that is not known here. */
export function cost(moves, from, to) {
  if (!moves || !from) return null;
  if (from.arm === to.arm) return 0;
  if (!moves.per_distance) return moves.per_move;
  const length = far(from, to, moves);
  return length === null ? null : moves.per_move + moves.per_distance * length;
}

/** The way from one site to another in words: how far, and what it costs; "" where nothing is known of it. */
export function leg({ moves, unit }, from, to) {
  if (!from || !moves) return "";
  if (from.arm === to.arm) return "You are there.";
  const [length, paid] = [far(from, to, moves), cost(moves, from, to)];
  const parts = [length === null ? null : distance(length, moves.distance === "great_circle"), paid === null ? null : `the way costs ${number(paid, 3)}${unit ? ` ${unit}` : ""}`];
  return parts.some(Boolean) ? `From ${from.name}: ${parts.filter(Boolean).join(", ")}.` : "";
}
