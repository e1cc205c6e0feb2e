// What time it is by the server's clock: a telephone's may be wrong.

const STALE = 5; // seconds that a date in a header may be old: servers write it now and then, busy ones late

let ahead = null; // seconds by which the server's clock is ahead of this device's; null until it has answered

/** Note what time an answer was given, by its header `Date`; what a worker has kept says nothing of now. */
export function heard(answer, began) {
  const said = Date.parse(answer.headers.get("date") ?? "");
  if (Number.isNaN(said) || answer.headers.has("corrbandits-kept")) return;
  const [least, most] = [(said - Date.now()) / 1000, (said - began) / 1000 + 1]; // it says whole seconds, of some time since
  const held = ahead ?? 0;
  ahead = held >= least && held <= most + STALE ? held : (least + most) / 2; // a clock that may be right is left alone
}

/** By how many seconds the server's clock is ahead; null if nobody knows. */
export const offset = () => ahead;

/** The time, in seconds since 1970: by the server's clock, or by this device's while that is not known. */
export const now = () => Date.now() / 1000 + (ahead ?? 0);
