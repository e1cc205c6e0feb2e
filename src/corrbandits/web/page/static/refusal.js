// What was not taken because somebody else was there first: in words, and what can be done.

import { exact } from "./numbers.js";
import { own } from "./person.js";

const CLOSED = { cancelled: "given back", retracted: "taken back" };

/** How a trial stands by now, in words. */
export const met = ({ reward, status, told_by: by }, unit = "") => (reward === null ? `This was ${CLOSED[status] ?? status} meanwhile.` :
  `${by && by === own() ? "You have" : `${by ?? "Somebody else"} has`} entered ${exact(reward)}${unit} here meanwhile.`);

/** What may be done with an entry that met another: [words, how the entry changes], ... */
export function choices({ kind, now: { reward } }) {
  const [mine, too] = [["Mine counts", { kind: "amend", was: reward }], { kind: "observe" }];
  if (reward === null) return ["tell", "amend"].includes(kind) ? [["Count it", too]] : [];
  return { tell: [mine, ["Keep both", too]], amend: [mine], retract: [[`Take ${exact(reward)} back`, { was: reward }]] }[kind] ?? [];
}
