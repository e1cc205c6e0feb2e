// Sites in an order in which they can be walked.

/** How far two places are apart; on the globe where they lie by latitude and longitude. */
export function apart(one, other) {
  if (!("latitude" in one)) return Math.hypot(one.x - other.x, (one.y ?? 0) - (other.y ?? 0));
  const turn = Math.PI / 180;
  const [a, b] = [one.latitude * turn, other.latitude * turn];
  const half = Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(((other.longitude - one.longitude) * turn) / 2) ** 2;
  return 2 * 6_371_008.8 * Math.asin(Math.min(Math.sqrt(half), 1)); // metres
}

/** Trials in order: always on to the nearest, then crossings undone; from a place if one is given. */
export function walked(trials, from = null) {
  if (trials.length < 3 && !from) return trials;
  if (!trials.every((trial) => trial.coordinates)) return trials;
  const left = [...trials];
  const order = [];
  let place = from ?? left[0].coordinates;
  while (left.length) {
    let best = 0;
    for (let k = 1; k < left.length; k++) if (apart(place, left[k].coordinates) < apart(place, left[best].coordinates)) best = k;
    order.push(...left.splice(best, 1));
    place = order.at(-1).coordinates;
  }
  return uncrossed(order, from);
}

function uncrossed(order, from) {
  const at = (k) => (k < 0 ? from : order[k]?.coordinates);
  const step = (a, b) => (a && b ? apart(a, b) : 0);
  for (let round = 0, better = true; better && round < 20 && order.length < 200; round++) {
    better = false;
    for (let i = from ? 0 : 1; i < order.length - 1; i++) {
      for (let j = i + 1; j < order.length; j++) {
        const gain = step(at(i - 1), at(i)) + step(at(j), at(j + 1)) - step(at(i - 1), at(j)) - step(at(i), at(j + 1));
        if (gain > 1e-9 * step(at(i), at(j)) && gain > 0) {
          order.splice(i, j - i + 1, ...order.slice(i, j + 1).reverse());
          better = true;
        }
      }
    }
  }
  return order;
}
