// Numbers, times and places as the reader writes them.

const tongue = navigator.languages?.length ? navigator.languages : undefined;
export const grouping = new Intl.NumberFormat(tongue).formatToParts(1234567.5).find((part) => part.type === "group")?.value ?? "";

/** A number in a few digits. */
export function number(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  const most = Math.abs(x) >= 10 ** digits ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: digits };
  const far = x !== 0 && (Math.abs(x) >= 1e9 || Math.abs(x) < 1e-5);
  return new Intl.NumberFormat(tongue, far ? { notation: "scientific", maximumSignificantDigits: digits } : most).format(x);
}

/** A number with all its digits, as rewards are shown. */
export const exact = (x) => (x === null || x === undefined ? "–" : Math.abs(x) >= 1e15 ? number(x, 17) :
  new Intl.NumberFormat(tongue, { maximumSignificantDigits: 17 }).format(x));

/** A reward: as it was typed; one with more digits than anybody types, in a few. */
export const brief = (x) => (x === null || x === undefined || Number(x.toPrecision(10)) === x ? exact(x) : number(x, 6));

/** How many of a thing. */
export const counted = (n, noun, nouns = `${noun}s`) => `${new Intl.NumberFormat(tongue).format(n)} ${n === 1 ? noun : nouns}`;

export const percent = (x) => (x === null || x === undefined ? "–" : x > 0 && x < 0.01 ? `< ${share(0.01)}` :
  x < 1 && x > 0.99 ? `> ${share(0.99)}` : share(x));
const share = (x) => new Intl.NumberFormat(tongue, { style: "percent", maximumFractionDigits: 0 }).format(x);

/** mean ± deviation, both to the digits that the deviation has. */
export function around(mean, deviation) {
  if (mean === null || mean === undefined) return "not known yet";
  if (deviation === null || deviation === undefined || !(deviation > 0)) return number(mean, 4);
  const places = Math.min(Math.max(1 - Math.floor(Math.log10(deviation)), 0), 12);
  const fixed = (x, few) => new Intl.NumberFormat(tongue, { maximumFractionDigits: few }).format(x);
  return Math.abs(mean) >= 1e9 || places > 11 ? `${number(mean)} ± ${number(deviation, 2)}` :
    `${fixed(mean, places)} ± ${number(deviation, 2)}`;
}

/** Milliseconds since 1970 of a time that the interface wrote: seconds, or ISO 8601. */
export const millis = (at) => (typeof at === "number" ? at * 1000 : Date.parse(at));

const clock = new Intl.DateTimeFormat(tongue, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(tongue, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const full = new Intl.DateTimeFormat(tongue, { dateStyle: "medium", timeStyle: "long" });

/** When something was: the hour today, otherwise the day too. */
export function when(at) {
  const date = new Date(millis(at));
  if (Number.isNaN(date.getTime())) return "";
  return (date.toDateString() === new Date().toDateString() ? clock : day).format(date);
}

/** When something was, with the zone. */
export const whole = (at) => (Number.isNaN(millis(at)) ? "" : full.format(new Date(millis(at))));

/** How long ago. */
export function ago(at) {
  const seconds = Math.max((Date.now() - millis(at)) / 1000, 0);
  const steps = [[60, 1, "second"], [3600, 60, "minute"], [86400, 3600, "hour"], [Infinity, 86400, "day"]];
  const [, size, unit] = steps.find(([until]) => seconds < until);
  if (unit === "second") return "just now";
  return new Intl.RelativeTimeFormat(tongue, { numeric: "always" }).format(-Math.floor(seconds / size), unit);
}

/** How far: a number, or metres and kilometres on the globe. */
export const distance = (length, globe) => (!globe ? `${number(length)} away` : length < 1 ? `${number(1000 * length)} m` : `${number(length)} km`);

const fine = (x) => new Intl.NumberFormat(tongue, { maximumFractionDigits: 2 }).format(x);

/** A place in words. */
export function place(coordinates) {
  if (!coordinates) return "";
  if ("latitude" in coordinates) {
    const { latitude: lat, longitude: lon } = coordinates;
    const degrees = (x) => new Intl.NumberFormat(tongue, { minimumFractionDigits: 5, maximumFractionDigits: 5 }).format(Math.abs(x));
    return `${degrees(lat)}° ${lat < 0 ? "S" : "N"}, ${degrees(lon)}° ${lon < 0 ? "W" : "E"}`;
  }
  return Object.entries(coordinates).map(([axis, x]) => `${axis} ${fine(x)}`).join(" · ");
}
