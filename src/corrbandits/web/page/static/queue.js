// What was typed and has not arrived yet: kept in this browser, marked, and sent once.
//
// Every reward goes through here, connected or not: it is kept before it is sent, and forgotten when the server has
// said that it is saved. Its key was made when it was typed, so sending it again, from another tab too, counts once.
// It is sent by whoever typed it: an entry of somebody else who was signed in here waits for them. A reward carries when
// it was measured: when it was typed, unless another time was said; by the server's clock, whatever this device's shows.

import { Trouble, get, key, part, post } from "./api.js";
import { offset } from "./clock.js";
import { foreign, introduced, me, own } from "./person.js";

const STORE = "typed";

/**
 * Entries in the order in which they were typed: {key, study, kind, trial, arm, name, reward, was, by, at, ahead,
 * measured, refused, now}. `at` is when it was typed by this device's clock, and `ahead` by how much the server's was ahead
 * of that, null if nobody knew; `measured` is when it was measured, if that was said. `was` is the reward that is to be
 * changed, `now` what counts if the server has refused because of it.
 */
export function entries() {
  try { return held ?? JSON.parse(localStorage.getItem(STORE) ?? "[]"); } catch { return held ?? []; }
}

let held = null; // where the browser keeps nothing, as in some private windows: until the page is closed

function change(edit) {
  const list = edit(entries());
  try { localStorage.setItem(STORE, JSON.stringify(list)); held = null; } catch { held = list; }
  dispatchEvent(new CustomEvent("typed"));
}

/** The reward that an entry is to change, once what was typed before it has arrived. */
function awaited({ study, trial, was }) {
  const before = entries().findLast((one) => one.study === study && one.trial === trial && !one.refused && ["tell", "amend"].includes(one.kind));
  return was === undefined ? was : before?.reward ?? was;
}

export const keep = (entry) => {
  const kept = { ...entry, was: awaited(entry), by: introduced() ? own() : undefined, key: key(), at: Date.now() / 1000, ahead: offset() };
  change((list) => [...list, kept]);
};
export const forget = (entry) => change((list) => list.filter((one) => one.key !== entry.key));
const edited = (entry, edit) => change((list) => list.map((one) => (one.key === entry.key ? { ...one, ...edit } : one)));

/** Have a refused entry sent anew, as something else perhaps. */
export const revise = (entry, edit) => edited(entry, { refused: undefined, now: undefined, ...edit });

/** How a trial stands: {status, reward, told_by}. */
export const standing = async (study, trial) => (await get(`/studies/${part(study)}/history?offset=${trial - 1}&limit=1`)).trials[0];

/** When a reward was measured, in seconds since 1970 to the millisecond. */
const measured = ({ measured: said, at, ahead }) => said ?? Math.round(1000 * (at + ahead)) / 1000;

function sent({ study, kind, trial, arm, reward, was, by: name, key: by, ...rest }) {
  const place = `/studies/${part(study)}`;
  if (kind === "observe") return post(`${place}/observe`, { arm, reward, at: measured(rest), check: true }, { by, name });
  const body = { tell: { reward, at: measured(rest), check: true }, amend: { reward, was, check: true }, retract: { was } }[kind];
  return post(`${place}/trials/${trial}/${kind}`, body, { by, name });
}

/** An entry with the time at which it was typed by the server's clock: fixed before it is first sent, and then the same. */
async function timed(entry) {
  if (Number.isFinite(entry.ahead)) return entry;
  if (offset() === null) await get("/version"); // answered by the server itself, or not at all
  const known = { ahead: offset() ?? 0 };
  edited(entry, known);
  return { ...entry, ...known };
}

const arrived = (entry, done) => {
  dispatchEvent(new CustomEvent("arrived", { detail: { entry, done } }));
  forget(entry);
};

/** Send one entry. */
async function deliver(typed) {
  const entry = await timed(typed);
  try {
    arrived(entry, await sent(entry));
  } catch (error) {
    if (!(error instanceof Trouble) || error.lost || error.status === 401) throw error;
    const met = error.status === 409 && entry.kind !== "observe" ? await standing(entry.study, entry.trial) : undefined;
    if (entry.kind === "tell" && met?.reward === entry.reward) { arrived(entry, met); return; } // somebody has told the same
    edited(entry, { refused: error.message, now: met });
    dispatchEvent(new CustomEvent("refused", { detail: entry }));
  }
}

let timer = null;
let wait = 1;

/** Send what waits, one tab at a time; later again if nobody answers. */
export async function flush() {
  clearTimeout(timer);
  if (!entries().some((one) => !one.refused)) return;
  const locked = navigator.locks ? (work) => navigator.locks.request("typed", work) : (work) => work();
  await locked(async () => {
    try {
      await me(true);
      dispatchEvent(new CustomEvent("typed")); // whose they are is known now
      for (const entry of entries()) {
        if (entry.refused || foreign(entry)) continue;
        if (entries().some((one) => one.key === entry.key)) await deliver(entry); // otherwise another tab has sent it
      }
      wait = 1;
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      wait = Math.min(wait * 2, 60);
      timer = setTimeout(flush, 1000 * wait * (0.75 + Math.random() / 2));
    }
  });
}

addEventListener("online", flush);
addEventListener("storage", (event) => { if (event.key === STORE) dispatchEvent(new CustomEvent("typed")); });
