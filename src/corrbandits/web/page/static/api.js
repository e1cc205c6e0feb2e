// The interface, called from the page.

import { heard } from "./clock.js";

const told = document.documentElement.dataset;
export const root = told.root;
export const study = told.study ?? null;
export const part = encodeURIComponent;
export const at = (name, view = "") => `${root}/s/${part(name)}/${view}`;
export const here = (path = "") => `/studies/${part(study)}${path}`;

/** What went wrong, in words that say what to do. `lost`: nobody answered, so that trying again may help. */
export class Trouble extends Error {
  constructor(words, status = 0, more = {}) {
    super(words);
    this.status = status;
    this.lost = status === 0 || status === 429 || status >= 500;
    this.more = more;
  }
}

/** A key by which a write is known: made when it was typed, so that it counts once. */
export function key() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const signature = () => localStorage.getItem("name") ?? "";

async function call(path, { name = signature(), ...options }, seconds) {
  const given = { credentials: "same-origin", ...options, headers: { accept: "application/json", ...options.headers } };
  if (name) given.headers["corrbandits-by"] = part(name);
  let answer;
  const began = Date.now();
  try {
    answer = await fetch(`${root}/api/v1${path}`, { ...given, signal: AbortSignal.timeout(seconds * 1000) });
  } catch (error) {
    throw new Trouble(error.name === "TimeoutError" ? "No answer came in time." : "There is no connection.");
  }
  heard(answer, began);
  return answer;
}

async function trouble(answer) {
  let problem = {};
  try { problem = await answer.json(); } catch { /* not from the service: a proxy, perhaps */ }
  const words = problem.detail ?? problem.title ?? `The server answered ${answer.status}.`;
  if (answer.status === 404 && study && /^there is no study /i.test(words)) dispatchEvent(new CustomEvent("absent"));
  if (answer.status === 401) dispatchEvent(new CustomEvent("unsigned"));
  return new Trouble(typeof words === "string" ? words : JSON.stringify(words), answer.status, problem);
}

const known = new Map(); // answers by path, with their ETags

/** Read; what has not changed since is not sent again. */
export async function get(path, seconds = 30) {
  const before = known.get(path);
  const answer = await call(path, { headers: before ? { "if-none-match": before.tag } : {} }, seconds);
  if (answer.status === 304 && before) return before.data;
  if (!answer.ok) throw await trouble(answer);
  const data = await answer.json();
  const tag = answer.headers.get("etag");
  if (tag) known.set(path, { tag, data });
  if (known.size > 400) known.delete(known.keys().next().value);
  return data;
}

const PAGE = 10_000;
const COLUMNS = ["names", "mean", "deviation", "limit", "counts", "chance"];

/** Read what has a value for each arm, page by page. Put together anew: what `get` gave is given out again. */
export async function columns(path) {
  const page = (from, offset) => get(`${from}${from.includes("?") ? "&" : "?"}offset=${offset}&limit=${PAGE}`);
  const first = await page(path, 0);
  const pages = [first];
  const moment = path.includes("/belief?") && !path.includes("at=") ? `${path}&at=${first.sequence}` : path; // of one moment all
  for (let offset = PAGE; offset < (first.count ?? first.arms); offset += PAGE) pages.push(await page(moment, offset));
  const whole = { ...first };
  if (pages.length === 1) return whole;
  for (const name of COLUMNS) if (first[name]) whole[name] = pages.flatMap((one) => one[name]);
  whole.coordinates &&= first.coordinates.map((_, d) => pages.flatMap((one) => one.coordinates[d]));
  return whole;
}

/** Write, as JSON or as text of a type, in the name of who typed it; the same with the same key is done once. */
export async function post(path, body, { by = key(), name, type = "application/json", seconds = 60, method = "POST" } = {}) {
  const headers = { "content-type": type, "idempotency-key": by, "corrbandits-page": "1" };
  const sent = type === "application/json" ? JSON.stringify(body ?? {}) : body;
  const answer = await call(path, { method, name, headers, body: sent }, seconds);
  if (!answer.ok) throw await trouble(answer);
  return answer.status === 204 ? null : answer.json();
}
