// The sites of a study: what they are called and where they lie; looked up while there is a connection.

import { columns, here } from "./api.js";

let arms = null;

/** The sites, {count, axes, names, coordinates}; null if they have not been looked up. */
export const sites = () => arms;

/** The sites, so many; looked up if they have not been, if there are more by now, or if nobody knows how many. */
export async function known(count = NaN) {
  if (arms?.count !== count) {
    const { coordinates: c, ...rest } = await columns(here("/arms"));
    arms = { ...rest, coordinates: c && c[0].map((_, k) => c.map((column) => column[k])) };
  }
  return arms;
}

/** Which site is called so, in whatever form its letters were typed; -1 for none. */
export const called = (name) => arms.names.findIndex((one) => one.normalize() === name.normalize());

/** A site: {arm, name, coordinates}. */
export const site = (arm) => ({ arm, name: arms.names[arm], coordinates: arms.coordinates && Object.fromEntries(arms.axes.map((axis, d) => [axis, arms.coordinates[arm][d]])) });
