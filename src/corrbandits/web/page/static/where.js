// Where the team is, and what the way from there costs.

import { study } from "./api.js";
import { distance, number } from "./numbers.js";
import { sites } from "./sites.js";
import { apart, walked } from "./walk.js";

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

/** Trials in an order to walk; along roads that is the order they were asked in. */
export const inOrder = (trials, from, { moves }) => (moves?.own_places ? trials : walked(trials, from?.coordinates));

/** How far it is as the rule has it, in km on the globe; null where that is not known here. */
function far({ arm, coordinates: one }, to, { distance: kind, own_places }) {
  if (own_places) return sites()?.ways?.[arm][to.arm] ?? null; // along the rule's own roads
  const other = one && to.coordinates;
  if (!other) return null;
  if (kind === "great_circle") return apart(one, other) / 1000;
  const gaps = Object.keys(one).map((axis) => one[axis] - other[axis]);
  return kind === "euclidean" ? Math.hypot(...gaps) : kind === "cityblock" ? gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) : null;
}

/** The way from one site to another in words: how far, and what it costs; "" where nothing is known of it. */
export function leg({ moves, unit }, from, to) {
  if (!from || !moves) return "";
  if (from.arm === to.arm) return "You are there.";
  const length = far(from, to, moves);
  const paid = length === null && moves.per_distance ? null : moves.per_move + moves.per_distance * length;
  const parts = [length !== null && distance(length, moves.distance === "great_circle"), paid !== null && `the way costs ${number(paid, 3)}${unit ? ` ${unit}` : ""}`].filter(Boolean);
  return parts.length ? `From ${from.name}: ${parts.join(", ")}.` : "";
}
