// Every event: who, when, what.

import { get, here } from "./api.js";
import { $, button, h, show, table } from "./dom.js";
import { follow, heard } from "./live.js";
import { counted, exact, whole } from "./numbers.js";
import { begin, filling } from "./shell.js";

const PAGE = 100;
const WORDS = { created: "study begun", asked: "asked for", told: "measured", observed: "measured, unasked", amended: "changed", retracted: "taken back", cancelled: "given back", expired: "expired", extended: "sites added" };
const form = $("filter");
let events = [];
let most = PAGE;

function options(select, values, words = (v) => v) {
  const chosen = select.value;
  select.replaceChildren(select.firstElementChild, ...values.map((value) => h("option", { value }, words(value))));
  select.value = chosen;
}

function draw() {
  const { text, what, by } = Object.fromEntries(new FormData(form));
  const sought = text.trim().toLocaleLowerCase();
  const fits = (one) => (!what || one.what === what) && (!by || one.by === by) &&
    (!sought || [one.name, one.by, WORDS[one.what], one.trial, one.reward, whole(one.at)].join(" ").toLocaleLowerCase().includes(sought));
  const found = events.filter(fits);
  $("count").textContent = found.length === events.length ? counted(found.length, "event") : `${found.length} of ${counted(events.length, "event")}`;
  show($("events"), found.length ? table("Events, the newest first", ["Where", "What", "Measured", "Who", "When", "Trial"], found.slice(0, most).map((one) =>
    [one.name ?? "–", WORDS[one.what] ?? one.what, one.reward === null || one.reward === undefined ? "" : exact(one.reward), one.by ?? "", whole(one.at), one.trial ? `no. ${one.trial}` : ""]), [2]) : h("p.wait", "No event fits."),
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
  } catch (error) {
    heard(error);
    if (events.length) return;
    throw error;
  }
  options(form.what, [...new Set(events.map((one) => one.what))], (what) => WORDS[what] ?? what);
  options(form.by, [...new Set(events.map((one) => one.by).filter(Boolean))].sort());
  draw();
}

begin();
form.addEventListener("input", () => { most = PAGE; draw(); });
form.addEventListener("submit", (event) => event.preventDefault());
filling($("events"), load);
follow(() => load());
