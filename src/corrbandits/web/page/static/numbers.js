// Numbers and times as the reader writes them.

const tongue = navigator.languages?.length ? navigator.languages : undefined;
const parts = new Intl.NumberFormat(tongue).formatToParts(1234567.5);
const grouping = parts.find((part) => part.type === "group")?.value ?? "";

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

const ZEROS = [0x0660, 0x06f0, 0x0966, 0xff10]; // Arabic, Persian, Devanagari, wide
const plainDigit = (c) => {
  const zero = ZEROS.find((z) => c.codePointAt(0) >= z && c.codePointAt(0) <= z + 9);
  return zero === undefined ? c : String(c.codePointAt(0) - zero);
};

/**
 * What a person typed, read as a number: {value}, {either: [decimal, thousands]} if it can be read in two ways, or
 * {problem}. A comma or a point may stand before the decimals; "1,234" may be either.
 */
export function read(text, group = grouping) {
  let typed = [...text.normalize("NFKC")].map(plainDigit).join("").replace(/[\s'’_\u066c]/g, "");
  typed = typed.replace(/[\u2212\u2012\u2013]/g, "-").replaceAll("\u066b", ",");
  if (!typed) return { problem: "Type what was measured, such as 31.2 or 31,2." };
  const found = /^([+-]?)([\d.,]*\d[.,]?)(e[+-]?\d{1,3})?$/i.exec(typed);
  if (!found) return { problem: `“${text.trim()}” is not a number. Type digits, such as 31.2 or 31,2.` };
  const [, sign, body, exponent = ""] = found;
  const marks = body.replace(/\d/g, "");
  const value = (digits) => Number(sign + digits + exponent);
  const decimals = (mark) => body.replaceAll(mark === "," ? "." : ",", "").replace(mark, ".");
  const grouped = (mark) => new RegExp(`^\\d{1,3}(\\${mark}\\d{3})+$`).test(body.split(mark === "," ? "." : ",")[0]);
  let result;
  if (!marks) result = value(body);
  else if (marks.length === 1) {
    if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(body) && !exponent && (marks === "," || group === ".")) {
      return { either: [value(body.replace(marks, ".")), value(body.replace(marks, ""))] };
    }
    result = value(body.replace(marks, "."));
  } else if (new Set(marks).size === 1) result = grouped(marks[0]) ? value(body.replaceAll(marks[0], "")) : NaN;
  else {
    const last = marks.at(-1);
    const first = last === "," ? "." : ",";
    result = marks.indexOf(last) === marks.length - 1 && grouped(first) ? value(decimals(last)) : NaN;
  }
  return Number.isFinite(result) ? { value: result } : { problem: `“${text.trim()}” can be read in several ways. Type it without marks between thousands.` };
}
