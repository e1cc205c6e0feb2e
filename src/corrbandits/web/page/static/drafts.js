// What stands on Today and the server does not know: what was typed and not saved, and sites to be entered again.

import { study } from "./api.js";

/** By trial: {trial, text}. */
export const drafts = new Map();

const STORE = `again ${study}`; // of this tab

/** Sites whose reward was taken back at once, to enter another: trials, marked `again`. */
export function again() {
  try { return JSON.parse(sessionStorage.getItem(STORE) ?? "[]"); } catch { return []; }
}

function store(list) {
  try { sessionStorage.setItem(STORE, JSON.stringify(list)); } catch { /* the site is then asked for again */ }
}

export const enterAgain = ({ trial, arm, name, coordinates }) => store([...again().filter((one) => one.trial !== trial), { trial, arm, name, coordinates, by: null, again: true }]);

/** Take a site off those to be entered again. */
export const unlist = (trial) => store(again().filter((one) => one.trial !== trial));

/** A trial has been dealt with: nothing is left of what was typed for it. */
export function spent(trial) {
  drafts.delete(trial);
  unlist(trial);
}
