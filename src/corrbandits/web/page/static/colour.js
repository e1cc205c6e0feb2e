// Colour maps that grow lighter evenly, also for the colour-blind: viridis and cividis, by stops.

const STOPS = {
  viridis: "440154 482173 433e85 38588c 2d708e 25858e 1e9b8a 2ab07f 52c569 86d549 c2df23 fde725",
  cividis: "00224e 013271 2f426d 48526c 5e636f 727374 878478 9d9576 b6a96f cebc63 e7d150 fee838",
};
export const LEVELS = 64;

function ramp(name) {
  const stops = STOPS[name].split(" ").map((hex) => [0, 2, 4].map((k) => Number.parseInt(hex.slice(k, k + 2), 16)));
  return Array.from({ length: LEVELS }, (_, level) => {
    const at = (level / (LEVELS - 1)) * (stops.length - 1);
    const k = Math.min(Math.floor(at), stops.length - 2);
    return stops[k].map((low, c) => Math.round(low + (at - k) * (stops[k + 1][c] - low)));
  });
}

const ramps = {};
const found = (name) => (ramps[name] ??= ramp(name));

/** The colours of a map, darkest first. */
export const colours = (name) => found(name).map((rgb) => `rgb(${rgb.join(" ")})`);

/** Whether writing on a level should be dark. */
export const light = (name, level) => {
  const [r, g, b] = found(name)[level].map((c) => (c / 255 <= 0.04045 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18;
};

/** The level of each value between two ends; -1 where nothing is known. */
export function levels(values, low, high) {
  const scale = high > low ? (LEVELS - 1) / (high - low) : 0;
  return values.map((v) => (v === null || v === undefined || Number.isNaN(v) ? -1 :
    scale ? Math.min(Math.max(Math.round((v - low) * scale), 0), LEVELS - 1) : LEVELS >> 1));
}

/** The least and the largest of what is known. */
export function ends(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) if (v !== null && v !== undefined) { if (v < low) low = v; if (v > high) high = v; }
  return low <= high ? [low, high] : [0, 1];
}
