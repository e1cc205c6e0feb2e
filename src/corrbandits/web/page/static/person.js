// Who uses the page.

import { get, signature } from "./api.js";

let known = { name: null, role: "tell", demo: null }; // until the server has said
let asked = null;

/** Who we are: {name, role, signed_in, demo}; `anew`, because another may have signed in since. */
export function me(anew = false) {
  if (anew) asked = null;
  return (asked ??= get("/me").then((found) => (known = found), (error) => { asked = null; if (error.lost) return known; throw error; }));
}

/** Whether the server has said who we are. */
export const introduced = () => known.signed_in !== undefined;

/** The name under which we write; null if nobody said one. */
export const own = () => (known.signed_in ? known.name : signature() || null);

/** Whether it is not for us to send an entry: somebody else who signed in on this device typed it. */
export const foreign = (entry) => Boolean(known.signed_in) && entry.by !== undefined && entry.by !== known.name;
