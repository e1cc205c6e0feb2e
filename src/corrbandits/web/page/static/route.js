// The way from site to site, on a small map of the field.

import { h, show } from "./dom.js";
import { number } from "./numbers.js";
import { known } from "./sites.js";

const MOST = 3000; // with more sites a map this small shows nothing

let way = null;

/** Draw {route, here} in a node, if sites lie on a plane; `picked(arm)` is called for a site that is tapped. */
export async function along(node, now, { route, here }, picked) {
  if (now.axes.length !== 2 || now.arms > MOST || !route.length) { way = null; show(node); return; }
  const [{ Field }, arms] = await Promise.all([import("./field.js"), known(now.arms)]); // where to go is shown before the map is there
  if (way?.arms !== arms) {
    const host = h("div");
    show(node, h("h2#way-title", "The way"), host);
    way = new Field(host, arms, { label: "The way from site to site", most: 0.4, picked });
  }
  way.draw({ values: Array(arms.count).fill(null), low: 0, high: 1, ramp: "viridis", text: number, route, here });
}
