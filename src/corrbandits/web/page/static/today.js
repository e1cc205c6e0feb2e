// Today: where to go next, what was measured there, and the list for the day.

import { Trouble, at, get, here, key, post, study } from "./api.js";
import { $, button, h, pressing, say, show, table } from "./dom.js";
import { again, drafts, enterAgain, spent, unlist } from "./drafts.js";
import { entry } from "./entry.js";
import { follow, heard } from "./live.js";
import { naming } from "./naming.js";
import { ago, brief, counted, number, place, when, whole } from "./numbers.js";
import { me, own } from "./person.js";
import { entries, flush, keep, standing } from "./queue.js";
import { choices, met } from "./refusal.js";
import { along } from "./route.js";
import { begin, complain, filling } from "./shell.js";
import { called, known, site, sites } from "./sites.js";
import { absent, team } from "./team.js";
import { inOrder, leg, position, stand } from "./where.js";
import { note, reason, reasons } from "./why.js";

let now = null; // the snapshot
let person = { name: null, role: "tell", demo: null };
let chosen = null; // the trial that somebody tapped
let changing = null; // the trial whose reward is being changed
let card = null; // the trial that is shown

const waits = (kind, trial) => entries().some((one) => one.study === study && one.trial === trial && one.kind === kind && !one.refused);
const open = () => [...now.open.filter((trial) => !["tell", "cancel"].some((kind) => waits(kind, trial.trial))), ...again().filter(({ arm }) => !now.open.some((one) => one.arm === arm))];
const standpoint = () => position(now);
const mine = () => inOrder(open().filter((trial) => !trial.by || trial.by === own()), standpoint(), now);
const others = () => open().filter((trial) => trial.by && trial.by !== own());
const may = () => person.role !== "read";

/** Forget what was typed for a trial: it has been dealt with. */
function clear(trial) {
  spent(trial);
  const typing = $("next").querySelector("input[type=text]");
  if (typing && card?.trial === trial) typing.value = "";
}

const focus = (node) => node?.focus({ preventScroll: true });
const changer = (trial) => document.querySelector(`[data-key="change-${trial}"]`);
const field = () => $("next").querySelector("input[type=text], #one");
const pressed = () => $("next").querySelector("button.main"); // of which no telephone opens its keys

function write(how, { trial, arm, name, coordinates }) {
  clear(trial);
  keep({ study, trial, arm, name, coordinates, ...how });
  chosen = changing = null;
  flush();
  draw();
}

function reward(how, trial, value) {
  if (how.measured === undefined && how.kind !== "amend") stand(trial);
  const [changed, typing] = [changing, document.activeElement.matches("input")];
  show($("saved"));
  say(`${brief(value)} at ${trial.name} is kept, and being sent.`);
  write({ ...how, reward: value }, trial);
  focus((changed && changer(changed)) ?? (typing ? field() : pressed()));
  scrollTo({ top: 0 });
}

/** Take a reward back that has just been saved; its site is where it was, for another. */
function undo(sent, trial, was) {
  show($("saved"));
  write({ kind: "retract", was }, { ...sent, trial });
  if (sent.trial !== null) enterAgain({ ...sent, trial });
  chosen = trial;
  draw();
  focus(field());
}

function giveBack(trial) {
  if (!confirm(`Take ${trial.name} off the list? It is then not measured, unless it is asked for again.`)) return;
  if (trial.again) { clear(trial.trial); draw(); } else write({ kind: "cancel" }, trial);
  focus(pressed());
}

const pin = ({ coordinates: c, arm }) => h("span.links", h("a", { href: `${at(study, "map")}#arm=${arm}` }, "Show on the map"),
  c && "latitude" in c ? h("a", { href: `geo:${c.latitude},${c.longitude}` }, "Directions") : null);

function lead(trial) {
  if (!trial) return asking();
  decided = { kind: trial.again ? "observe" : "tell" };
  const whose = trial.again ? "Enter it again" : trial.by && trial.by !== own() ? `Asked for by ${trial.by}` : "Go here next";
  return [h("p.kicker", whose), h(trial.name.length > 10 ? "h2.arm.long" : "h2.arm", trial.name), h("p.place", place(trial.coordinates), " ", pin(trial)), reason(trial), h("p#leg.place", { hidden: true }), h("div#meanwhile", { hidden: true }),
    may() ? entry({ label: "What did you measure?", unit: now.unit, action: "Save", start: drafts.get(trial.trial)?.text, timed: now.drifts, done: (value, when) => reward({ ...decided, ...when }, trial, value) }) : null,
    may() ? h("div.row.under", demo(trial), button("Cannot be measured", () => giveBack(trial), ".plain")) : null];
}

let decided = { kind: "tell" }; // what becomes of the reward that is being typed

/** Somebody else has dealt with the trial for which a reward is being typed: say so, and leave what was typed. */
async function meanwhile({ trial }) {
  const node = $("meanwhile");
  if (!node || node.dataset.trial) return;
  node.dataset.trial = trial;
  let found;
  try { found = await standing(study, trial); } catch { delete node.dataset.trial; return; }
  if (!node.isConnected || found.status === "open") return;
  const as = (how) => () => { decided = how; $("next").querySelector("form.entry").requestSubmit(); };
  const words = met(found, now.unit ? ` ${now.unit}` : "");
  show(node, h("div.notice.warn", { role: "alert" }, h("p", h("strong", words), " What you typed is still here, and not saved."), h("div.row",
    choices({ kind: "tell", now: found }).map(([does, how]) => button(does, as(how))), button("Drop it", () => { clear(trial); draw(); }, ".plain"))));
  say(words);
}

function demo(trial) {
  if (person.demo !== study) return null;
  return button("Tell me what grows here", async (event) => {
    event.target.disabled = true;
    try {
      const found = await post("/demo/measure", { study, trial: trial.trial });
      reward(decided, trial, found.reward);
    } catch (error) { complain($("saved"), error); event.target.disabled = false; }
  }, ".second");
}

const asked = { key: null, what: "" }; // the same ask again, if nobody answered, is the same
async function ask(n, event, repeats = false) {
  const caller = event.target.closest("form")?.querySelector("button") ?? event.target;
  caller.disabled = true;
  const from = now.moves ? standpoint()?.arm : undefined;
  const what = `${n} ${repeats} ${from}`;
  if (asked.what !== what) Object.assign(asked, { key: key(), what });
  try {
    const found = await post(here("/ask"), { n, repeats, why: true, from }, { by: asked.key });
    asked.what = "";
    note(found.trials);
    await load();
    const first = mine()[0];
    say(first ? `Go to ${first.name}.` : "");
    $("next").querySelector("input")?.focus({ preventScroll: true });
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    heard(error);
    show($("saved"), h("div.notice.warn", { role: "alert" }, h("p", error.lost ? "Where to go next is worked out by the server, and there is no connection. For the field, ask for a list beforehand." : /different arms|tried once/.test(error.message) ? tooMany(n) : error.message)));
  } finally { caller.disabled = false; }
}

/** Why so many sites cannot be found, and what to do. */
const tooMany = (n) => (n > 1 ? `There are not ${number(n)} different sites left to measure. Make a shorter list${now.repeat ? ", or tick “A site may come twice”" : ""}.` :
  "No site is left: each may be measured once, and is measured or on a list. Progress says which is best.");

const wanted = { sites: null, twice: false }; // of the list, also when the card is drawn anew
function asking() {
  const past = now.rounds && now.t > now.rounds;
  const count = h("input", { id: "sites", type: "number", inputmode: "numeric", min: 1, max: Math.min(now.arms, 200), value: wanted.sites ?? Math.min(8, now.arms), oninput: () => { wanted.sites = count.value; } });
  const twice = h("input", { type: "checkbox", id: "twice", checked: wanted.twice, onchange: () => { wanted.twice = twice.checked; } });
  return [h("p.kicker", now.told ? `${counted(now.told, "measurement")} so far${now.rounds ? ` of ${number(now.rounds)}` : ""}` : "Nothing measured yet"),
    h("h2.arm", past ? "The rounds are over" : "Where next?"),
    person.demo === study && !now.told ? h("p.why", `A field to play with: ${number(now.arms)} plots, of which some bring far more than others. You may measure ${number(now.rounds)} times. Which plot is best?`) :
      now.best ? h("p.why", "Best so far: ", h("strong", now.best.name), `, ${number(now.best.mean, 4)} ± ${number(now.best.deviation, 2)}${now.unit ? ` ${now.unit}` : ""}.`) :
      h("p.why", "The first sites lie far from each other, to see the whole field."),
    may() ? h("button.main.wide", { type: "button", id: "one", onclick: (event) => ask(1, event) }, "Find the next site") : null,
    may() ? h("form.list", { onsubmit: (event) => { event.preventDefault(); ask(Math.max(1, Math.trunc(count.valueAsNumber || 1)), event, twice.checked); } },
      h("label", { for: "sites" }, "Or a list for the day:"), h("span.row", count, h("span", "sites"), h("button", { type: "submit" }, "Make the list")), now.repeat ? h("label.check", twice, "A site may come twice") : null) : null];
}

function choose(trial) {
  chosen = trial.trial;
  draw();
  $("next").scrollIntoView({ block: "nearest" });
  $("next").querySelector("input")?.focus({ preventScroll: true });
}

function row(trial, k, words) {
  const current = card?.trial === trial.trial;
  const typed = current ? null : drafts.get(trial.trial);
  return h("li", { class: current ? "current" : null }, h("button.pick", { type: "button", "aria-pressed": String(current), onclick: () => choose(trial) }, k === null ? null : h("span.order", { "aria-hidden": "true" }, k), h("span.grow", h("strong", trial.name), h("span.faint", words), typed ? h("span.unsaved", `${typed.text} · not saved yet`) : null)));
}

function drawMine() {
  const list = mine();
  if (!list.length) return [];
  const words = (trial, k) => [place(trial.coordinates), leg(now, k ? list[k - 1] : standpoint(), trial)].filter(Boolean).join(" · ");
  return [h("div.head", h("h2#mine-title", `Your list: ${counted(list.length, "site")}`), button("Print", () => print(), ".plain.noprint")),
    list.length > 1 ? h("ol.trials.noprint", list.map((trial, k) => row(trial, k + 1, words(trial, k)))) : null,
    h("div.paper", h("p", `${study} · ${whole(Date.now() / 1000)}`), table("The list for the day", ["", "Site", "Place", "Trial", `Measured${now.unit ? ` (${now.unit})` : ""}`, "Remarks"],
      list.map((trial, k) => [k + 1, trial.name, place(trial.coordinates), trial.trial, "", ""])))];
}

function drawOthers() {
  const list = others();
  if (!list.length) return [];
  return [h("h2#others-title", "With others"), h("ul.trials", list.map((trial) => row(trial, null, `${trial.by} · since ${when(trial.at)} (${ago(trial.at)})`)))];
}

function drawLast() {
  const list = (now.last ?? []).filter((one) => !waits("retract", one.trial));
  if (!list.length) return [];
  const item = (one) => h("li.told", h("div.line", h("span.grow", h("strong", one.name), h("span.faint", { title: whole(one.at) }, `${one.by ? `${one.by} · ` : ""}${when(one.measured ?? one.at)}${late(one) ? `, entered ${when(one.at)}` : ""}`)),
    h("span.value", brief(one.reward), now.unit ? h("span.unit", ` ${now.unit}`) : null),
    may() && changing !== one.trial ? h("button.plain", { type: "button", "data-key": `change-${one.trial}`, onclick: () => { changing = one.trial; draw(); } }, "Change", h("span.unseen", ` ${brief(one.reward)} at ${one.name}`)) : null),
  changing === one.trial ? [entry({ label: `What is right for ${one.name}?`, unit: now.unit, action: "Change", small: true, focus: true, done: (value) => reward({ kind: "amend", was: one.reward }, one, value) }),
    h("div.row", back(one), button("Leave it as it is", () => { changing = null; draw(); focus(changer(one.trial)); }, ".plain"))] : null);
  return [h("h2#last-title", "Last entries"), h("ul.trials", list.map(item))];
}

const late = ({ at: told, measured = told }) => Math.abs(told - measured) > 60;

const back = (one) => button(["Take back", h("span.unseen", ` ${brief(one.reward)} at ${one.name}`)], () => { write({ kind: "retract", was: one.reward }, one); focus(pressed()); });

/** The way to the next site and on to the others of the list, on a map of the field. */
function drawWay() {
  const list = mine();
  const current = open().find((one) => one.trial === chosen);
  const route = [...new Set((current ? [current, ...list] : list).map((one) => one.arm))];
  return along($("way"), now, { route, here: (now.moves && standpoint()?.arm) ?? null }, (arm) => { const found = open().find((one) => one.arm === arm); if (found) choose(found); });
}

function drawElsewhere() {
  if (!may()) return [];
  const where = h("input", { id: "where", list: "names", autocomplete: "off", maxlength: 200 });
  const measured = entry({ label: "What was measured there?", unit: now.unit, action: "Save", small: true, timed: now.drifts, done: (value, when) => {
    const name = where.value.trim();
    const k = sites() ? called(name) : name; // where they are not known here, the server looks
    if (k < 0 || !name) { show(wrong, absent(name)); where.focus(); return; }
    reward({ kind: "observe", ...when }, { trial: null, ...(sites() ? site(k) : { arm: k, name }) }, value);
  } });
  const wrong = h("div.note", { "aria-live": "assertive" });
  const more = h("details", h("summary", "Measured somewhere else?"), h("label", { for: "where" }, "Which site?"), where, h("datalist#names"), wrong, measured);
  more.addEventListener("toggle", () => { if (more.open) known(now.arms).then(({ names }) => show($("names"), names.slice(0, 1000).map((name) => h("option", { value: name }))), () => {}); });
  return [more, naming(person, draw)];
}

/** The trial for the card: the one that was tapped, the one for which something is being typed, the first of the list. */
function current() {
  const list = open();
  const typed = drafts.get(card?.trial) ?? [...drafts.values()].find(({ trial }) => !list.some((one) => one.trial === trial.trial));
  return list.find((one) => one.trial === chosen) ?? typed?.trial ?? mine()[0];
}

let drawn = "";
function draw() {
  if (!now || !$("next") || pressing(draw)) return; // not known yet, or signed out by now; or in a moment
  const typing = $("next").querySelector("input[type=text]");
  if (card && typing) typing.value ? drafts.set(card.trial, { trial: card, text: typing.value }) : drafts.delete(card.trial);
  const trial = current();
  const held = trial && trial.trial === card?.trial && drafts.has(trial.trial); // never take away what somebody is typing
  const shape = JSON.stringify([person.role, own(), ...(trial ? [trial.trial, trial.by] : [now.told, now.t, now.best])]);
  if (!held && shape !== drawn) {
    card = trial ?? null;
    $("next").dataset.trial = trial?.trial ?? "";
    show($("next"), lead(trial));
    drawn = shape;
  }
  const awaited = trial?.again ? again() : now.open;
  if (trial && drafts.has(trial.trial) && !awaited.some((one) => one.trial === trial.trial)) meanwhile(trial);
  if (trial) show($("leg"), leg(now, standpoint(), trial) || null);
  if (may()) team($("here"), now, draw);
  const hint = $("saved").querySelector("[data-again]");
  if (hint && open().some((one) => one.name === hint.dataset.again)) hint.remove(); // it is on the list
  show($("mine"), drawMine());
  show($("others"), drawOthers());
  drawWay().catch(() => {}); // no more than a help
  if (!$("last").querySelector("input")?.value) show($("last"), drawLast());
  if (!$("elsewhere").querySelector("details[open]")) show($("elsewhere"), drawElsewhere());
}

async function load() {
  try {
    [now, person] = await Promise.all([get(here()), me()]);
    get(here("/standing")).then((found) => { now = { ...now, best: found.best }; draw(); }, () => {});
  } catch (error) {
    heard(error);
    if (now) return;
    throw error;
  }
  draw();
  if (now.arms <= 10_000) known(now.arms).then(() => now.moves?.own_places && draw(), () => {}); // the ways along roads come with them
  reasons(mine());
}

addEventListener("typed", draw);
addEventListener("refused", ({ detail: { study: of, kind, trial } }) => {
  if (of !== study || kind !== "retract") return;
  unlist(trial); // it counts, so that there is nothing to enter again
  draw();
});
addEventListener("arrived", ({ detail: { entry: sent, done } }) => {
  if (sent.study !== study) return;
  if (now && done) now = { ...now, open: now.open.filter((one) => one.trial !== done.trial) };
  const words = { tell: "Saved", observe: "Saved", amend: "Changed", retract: "Taken back", cancel: "Given back" }[sent.kind];
  const value = sent.reward === undefined ? "" : `: ${brief(sent.reward)}${now?.unit ? ` ${now.unit}` : ""}`;
  const odd = done?.surprise ? h("p", h("strong", "That is far from what all else says."), " If it was mistyped, change it below.") : null;
  const gone = sent.kind === "retract" ? h("p", "It counts no longer.", h("span", { "data-again": sent.name }, ` To enter another for ${sent.name}, use “Measured somewhere else?”.`)) : null;
  const revoke = ["tell", "observe"].includes(sent.kind) && done ? h("div.row", button("Undo", () => undo(sent, done.trial, done.reward)), button("Change", () => { changing = done.trial; draw(); }, ".plain")) : null;
  show($("saved"), h(odd ? "div.notice.warn" : "div.notice.good", h("p", h("strong", `${words}`), `${value} at ${sent.name}.`), odd, gone, revoke));
  say(`${words}${value} at ${sent.name}.`);
  draw();
  if (Date.now() / 1000 - sent.at < 5) $("saved").scrollIntoView({ block: "nearest" }); // later, somebody may be at something else
  load();
});
begin();
filling($("next"), load);
follow(() => load());
setInterval(() => { if (!document.hidden) draw(); }, 60_000); // how long ago it was
