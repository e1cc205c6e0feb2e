// What people type, read as numbers.

import { grouping } from "./numbers.js";

const ZEROS = [0x0660, 0x06f0, 0x0966, 0xff10]; // Arabic, Persian, Devanagari, wide
const MARKS = { "\u066b": ",", "\uff0c": ",", "\uff0e": ".", "\u066c": "'", "’": "'", _: "'", "\u2212": "-", "\u2012": "-", "\u2013": "-", "\uff0d": "-", "\uff0b": "+" };
const plain = (c) => {
  const zero = ZEROS.find((z) => c.codePointAt(0) >= z && c.codePointAt(0) <= z + 9);
  return zero === undefined ? MARKS[c] ?? c.replace(/\s/, " ") : String(c.codePointAt(0) - zero);
};
const GROUPED = /^[+-]? ?\d{1,3}(( \d{3})+|('\d{3})+)(?![\d' ])/; // blanks and ' between groups of three digits, nowhere else

/** What digits with marks between them say: a number, two if it may be `either`, NaN if nobody knows. */
function meant(body, value, either) {
  const marks = body.replace(/\d/g, "");
  if (marks.length < 2) return either && /^[1-9]\d{0,2}[.,]\d{3}$/.test(body) ? [value(body.replace(marks, ".")), value(body.replace(marks, ""))] : value(body.replace(",", "."));
  const [first, last] = [marks[0], marks.at(-1)];
  const whole = first === last ? body : body.slice(0, body.indexOf(last));
  const grouped = new RegExp(`^\\d{1,3}(\\${first}\\d{3})+$`).test(whole);
  return grouped && (first === last || marks.indexOf(last) === marks.length - 1) ? value(body.replaceAll(first, "").replace(",", ".")) : NaN;
}

/**
 * What a person typed, read as a number: {value}, {either: [decimal, thousands]} if it can be read in two ways, or
 * {problem}. A comma or a point may stand before the decimals; "1,234" may be either.
 */
export function read(text, group = grouping) {
  const typed = [...text.trim()].map(plain).join("").replace(GROUPED, (whole) => whole.replace(/[ ']/g, ""));
  const problem = (words) => ({ problem: typed ? `“${text.trim()}” ${words}` : "Type what was measured, such as 31.2 or 31,2." });
  if (/\d[ ']+\d/.test(typed)) return problem("can be read in several ways. Type it without blanks, such as 31.2 or 31,2.");
  const found = /^([+-]?) ?([\d.,]*\d[.,]?)(e[+-]?\d+)?$/i.exec(typed);
  if (!found) return problem("is not a number. Type digits, such as 31.2 or 31,2.");
  const [, sign, body, exponent = ""] = found;
  const result = meant(body, (digits) => Number(sign + digits + exponent), !exponent && (body.includes(",") || group === "."));
  if (Array.isArray(result)) return { either: result };
  if (Number.isNaN(result)) return problem("can be read in several ways. Type it without marks between thousands.");
  if (!Number.isFinite(result) || (result === 0 && /[1-9]/.test(body))) return problem(`is too ${result ? "large" : "small"} a number to be kept.`);
  return { value: result };
}
