// What was typed and has not arrived yet: kept in this browser, marked, and sent once.
//
// Every reward goes through here, connected or not: it is kept before it is sent, and forgotten when the server has
// said that it is saved. Its key was made when it was typed, so sending it again, from another tab too, counts once.

import { Trouble, key, part, post } from "./api.js";

const STORE = "typed";

/** Entries in the order in which they were typed: {key, study, kind, trial, arm, name, reward, at, refused}. */
export function entries() {
  try { return held ?? JSON.parse(localStorage.getItem(STORE) ?? "[]"); } catch { return held ?? []; }
}

let held = null; // where the browser keeps nothing, as in some private windows: until the page is closed

function change(edit) {
  const list = edit(entries());
  try { localStorage.setItem(STORE, JSON.stringify(list)); held = null; } catch { held = list; }
  dispatchEvent(new CustomEvent("typed"));
}

export const keep = (entry) => {
  const kept = { ...entry, key: key(), at: Date.now() / 1000 };
  change((list) => [...list, kept]);
  return kept;
};
export const forget = (entry) => change((list) => list.filter((one) => one.key !== entry.key));
const refuse = (entry, words, status) => change((list) => list.map((one) => (one.key === entry.key ? { ...one, refused: words, status } : one)));

/** Have a refused entry sent anew, as something else perhaps. */
export const revise = (entry, edit) => change((list) => list.map((one) => (one.key === entry.key ? { ...one, refused: undefined, status: undefined, ...edit } : one)));

function sent({ study, kind, trial, arm, reward, key: by }) {
  const place = `/studies/${part(study)}`;
  if (kind === "observe") return post(`${place}/observe`, { arm, reward, check: true }, { by });
  return post(`${place}/trials/${trial}/${kind}`, kind === "tell" || kind === "amend" ? { reward, check: true } : {}, { by });
}

let timer = null;
let wait = 1;

/** Send what waits, one tab at a time; later again if nobody answers. */
export async function flush() {
  clearTimeout(timer);
  const locked = navigator.locks ? (work) => navigator.locks.request("typed", work) : (work) => work();
  await locked(async () => {
    for (const entry of entries()) {
      if (entry.refused) continue;
      if (!entries().some((one) => one.key === entry.key)) continue; // another tab has sent it
      try {
        const done = await sent(entry);
        wait = 1;
        dispatchEvent(new CustomEvent("arrived", { detail: { entry, done } }));
        forget(entry);
      } catch (error) {
        if (!(error instanceof Trouble)) throw error;
        if (error.lost || error.status === 401) {
          wait = Math.min(wait * 2, 60);
          timer = setTimeout(flush, 1000 * wait * (0.75 + Math.random() / 2));
          return;
        }
        refuse(entry, error.message, error.status);
      }
    }
  });
}

addEventListener("online", flush);
addEventListener("storage", (event) => { if (event.key === STORE) dispatchEvent(new CustomEvent("typed")); });
