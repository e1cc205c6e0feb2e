// Every event: who, when, what.

import { get, here, study } from "./api.js";
import { $, button, h, pressing, say, show, table } from "./dom.js";
import { entry } from "./entry.js";
import { follow, heard } from "./live.js";
import { brief, counted, exact, whole } from "./numbers.js";
import { me } from "./person.js";
import { flush, keep } from "./queue.js";
import { begin, filling } from "./shell.js";

const PAGE = 100;
const WORDS = { created: "study begun", asked: "asked for", told: "measured", observed: "measured, unasked", amended: "changed", retracted: "taken back", cancelled: "given back", expired: "expired", extended: "sites added" };
const REWARDING = ["told", "observed", "amended", "retracted"];
const form = $("filter");
let events = [];
let most = PAGE;
let may = false;
let unit = "";
let counting = new Map(); // by trial: the event that says which reward counts
let changing = null; // the trial whose reward is being changed

function options(select, values, words = (v) => v) {
  const chosen = select.value;
  select.replaceChildren(select.firstElementChild, ...values.map((value) => h("option", { value }, words(value))));
  select.value = chosen;
}

/** Which rewards count: of each trial the newest event, unless it was taken back. */
function count() {
  counting = new Map();
  for (const one of events) if (REWARDING.includes(one.what) && !counting.has(one.trial)) counting.set(one.trial, one);
  for (const [trial, one] of counting) if (one.what === "retracted") counting.delete(trial);
}

function send(kind, one, reward) {
  keep({ study, kind, trial: one.trial, arm: one.arm, name: one.name, reward, was: one.reward });
  leave();
  flush();
}

function leave() {
  const changed = changing;
  changing = null;
  if (location.hash) history.replaceState(null, "", location.pathname);
  edit();
  (document.querySelector(`[data-key="change-${changed}"]`) ?? $("main")).focus({ preventScroll: true });
}

function change(trial) {
  changing = trial;
  show($("saved"));
  edit();
  $("edit").scrollIntoView({ block: "nearest" });
}

/** The reward that somebody wants to change, above the events. */
function edit() {
  const node = $("edit");
  if (changing === null) { show(node); delete node.dataset.shape; return; }
  const one = counting.get(changing);
  const shape = JSON.stringify([changing, one?.reward, may]);
  if (node.dataset.shape === shape) return; // somebody may be typing
  const typed = node.querySelector("input")?.value ?? "";
  node.dataset.shape = shape;
  if (!one) { show(node, h("h2#edit-title", `Trial no. ${changing}`), h("p", "It has no reward that counts."), button("Close", leave, ".plain")); return; }
  show(node, h("h2#edit-title", `${one.name}: ${brief(one.reward)}${unit}`), h("p.faint", `${one.by ? `${one.by} · ` : ""}${when(one)} · trial no. ${one.trial}`),
    may ? entry({ label: `What is right for ${one.name}?`, unit: unit.trim() || null, action: "Change", small: true, focus: true, start: typed, done: (value) => send("amend", one, value) }) : null,
    h("div.row", may ? button("Take back", () => send("retract", one)) : null, button(may ? "Leave it as it is" : "Close", leave, ".plain")));
}

function linked() {
  const trial = /^#trial=(\d+)$/.exec(location.hash)?.[1];
  if (trial) change(Number(trial));
}

/** When something was entered; and when it was measured, if that was another time. */
const when = ({ at, measured }) => (measured && Math.abs(at - measured) > 60 ? `${whole(measured)}, entered ${whole(at)}` : whole(at));

const changer = (one) => (may && counting.get(one.trial) === one ? h("button.plain", { type: "button", "data-key": `change-${one.trial}`, onclick: () => change(one.trial) }, "Change", h("span.unseen", ` ${brief(one.reward)} at ${one.name}`)) : "");

function draw() {
  if (pressing(draw)) return;
  const { text, what, by } = Object.fromEntries(new FormData(form));
  const sought = text.trim().toLocaleLowerCase();
  const fits = (one) => (!what || one.what === what) && (!by || one.by === by) &&
    (!sought || [one.name, one.by, WORDS[one.what], one.trial, one.reward, when(one)].join(" ").toLocaleLowerCase().includes(sought));
  const found = events.filter(fits);
  $("count").textContent = found.length === events.length ? counted(found.length, "event") : `${found.length} of ${counted(events.length, "event")}`;
  show($("events"), found.length ? table("Events, the newest first", ["Where", "What", "Measured", "Who", "When", "Trial", ...(may ? ["Mistyped?"] : [])], found.slice(0, most).map((one) =>
    [one.name ?? "–", WORDS[one.what] ?? one.what, one.reward === null || one.reward === undefined ? "" : exact(one.reward), one.by ?? "", when(one), one.trial ? `no. ${one.trial}` : "", ...(may ? [changer(one)] : [])]), [2]) : h("p.wait", "No event fits."),
  found.length > most ? button("Show more", () => { most += PAGE; draw(); }) : null);
}

async function load() {
  try {
    const found = [];
    for (let total = 1; found.length < total;) {
      const more = await get(here(`/events?offset=${found.length}&limit=10000`));
      found.push(...more.events);
      total = more.events.length ? more.count : 0;
    }
    events = found.reverse();
    count();
    may = (await me()).role !== "read";
    const now = await get(here());
    unit = now.unit ? ` ${now.unit}` : "";
  } catch (error) {
    heard(error);
    if (events.length) return;
    throw error;
  }
  options(form.what, [...new Set(events.map((one) => one.what))], (what) => WORDS[what] ?? what);
  options(form.by, [...new Set(events.map((one) => one.by).filter(Boolean))].sort());
  draw();
  edit();
}

addEventListener("arrived", ({ detail: { entry: sent } }) => {
  if (sent.study !== study) return;
  const words = sent.kind === "retract" ? `Taken back at ${sent.name}. It counts no longer.` : `Saved: ${brief(sent.reward)}${unit} at ${sent.name}.`;
  show($("saved"), h("div.notice.good", h("p", words)));
  say(words);
  load();
});
addEventListener("hashchange", linked);
begin();
form.addEventListener("input", () => { most = PAGE; draw(); });
form.addEventListener("submit", (event) => event.preventDefault());
filling($("events"), async () => { await load(); linked(); });
follow(() => load());
