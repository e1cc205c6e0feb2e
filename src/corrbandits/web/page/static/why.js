// Why a site was chosen, in one sentence.

import { get, here } from "./api.js";
import { h } from "./dom.js";
import { number } from "./numbers.js";

const why = new Map();

/** A sentence with its mean and deviation as the reader writes numbers. */
const spoken = (words) => words.replace(/(-?[\d,.]+) ± ([\d,.]+)/, (_, mean, off) => `${number(Number(mean.replaceAll(",", "")), 4)} ± ${number(Number(off.replaceAll(",", "")), 2)}`);

/** Remember the reasons that came with trials. */
export function note(trials) {
  for (const one of trials) if (one.why) why.set(one.trial, spoken(one.why));
}

async function explained({ trial, again }) {
  if (!why.has(trial) && !again) why.set(trial, spoken((await get(here(`/explain/${trial}`))).sentence));
  return why.get(trial) ?? "";
}

export function reason(one) {
  const node = h("p.why", why.get(one.trial));
  explained(one).then((words) => { node.textContent = words; }, () => {});
  return node;
}

/** Look up the reasons of a whole list while there is a connection. */
export async function reasons(list) {
  for (const one of list.slice(0, 20)) { try { await explained(one); } catch { return; } }
}
