// The map: what is believed of every site, now and at any time before, and all that is known of one.

import { at, columns, get, here, study } from "./api.js";
import { ends } from "./colour.js";
import { $, button, h, say, show, table } from "./dom.js";
import { Field, legend } from "./field.js";
import { follow, heard } from "./live.js";
import { around, counted, exact, number, percent, place, when, whole } from "./numbers.js";
import { across } from "./places.js";
import { me, own } from "./person.js";
import { begin, complain, filling } from "./shell.js";
import { known } from "./sites.js";
import { inOrder, leg, position, stand } from "./where.js";

const LAYERS = {
  mean: ["Expected", "mean", "viridis", "expected"],
  deviation: ["Uncertainty", "deviation", "cividis", "how far off that may be (±)"],
  limit: ["Promise", "limit", "viridis", "what the rule compares by"],
  chance: ["Chance", "chance", "viridis", "chance to be best"],
  counts: ["Measured", "counts", "cividis", "times measured"],
};

let arms = null;
let now = null; // the snapshot
let belief = null; // what is shown
let field = null;
let layer = "mean";
let chosen = null;
let steps = []; // events after which the map changed
let step = null; // null: now
let fixedEnds = null;
let truth = null;

const name = (k) => arms.names?.[k] ?? String(k);
const where = (k) => (arms.coordinates ? Object.fromEntries(arms.axes.map((axis, d) => [axis, arms.coordinates[k][d]])) : null);
const unit = () => (now?.unit ? ` ${now.unit}` : "");
const text = (v) => (layer === "chance" ? percent(v) : layer === "counts" ? number(v) : number(v, 3));

const values = () => (layer === "truth" ? truth : belief[LAYERS[layer][1]] ?? belief.mean.map(() => null));

/** Where the team is, and the way from there: along their own list, or to the site that would be next. */
function going(next) {
  const from = step === null && now.moves ? position(now) : null;
  const mine = inOrder(now.open.filter((trial) => !trial.by || trial.by === own()), from, now).map((trial) => trial.arm);
  const on = mine.length || next === null ? mine : [next];
  return from ? { here: from.arm, trail: [from.arm, ...on.filter((k, i) => i || k !== from.arm)] } : {};
}

function shown() {
  const list = values();
  const [low, high] = layer === "chance" ? [0, Math.max(ends(list)[1], 0.05)] : layer === "counts" ? [0, Math.max(ends(list)[1], 1)] : (step !== null && fixedEnds?.[layer]) || ends(list);
  const best = belief.counts.some((n) => n > 0) ? belief.leader ?? null : null;
  const next = belief.next ?? null;
  return { values: list, low, high, ramp: LAYERS[layer]?.[2] ?? "viridis", counts: belief.counts, open: belief.open ?? [], next, best, chosen, text, ...going(next) };
}

function draw() {
  const given = shown();
  if (field.plan?.kind !== "none" && field.plan?.kind !== "line") field.draw(given);
  if (field.plan.kind === "none" || field.plan.kind === "line") flat(given);
  const signs = [["here", "you are here"], ["best", "best so far"], ["next", "next"], ["open", "being measured"], ["measured", "measured"]];
  const there = { here: given.here !== undefined, best: given.best !== null, next: given.next !== null, open: given.open.some((k) => k !== given.next), measured: given.counts?.some((n) => n > 0) };
  const known = given.values.some((v) => v !== null);
  const measured = !["chance", "counts"].includes(layer); // in the unit of what is measured
  if (!field.plan.x) show($("legend"));
  else show($("legend"), chosen === null ? null : h("p.picked", h("strong", name(chosen)), ` ${text(given.values[chosen])}${measured ? unit() : ""}`),
    known ? legend({ title: `${LAYERS[layer][3]}${measured && now.unit ? `, ${now.unit}` : ""}`, ...given, unknown: given.values.some((v) => v === null), signs: signs.filter(([sign]) => there[sign]) }) :
    h("div.legend", h("p", belief.waiting ? "Working out what is believed …" : belief.opening ? "Nothing can be compared yet: the first measurements set the scale." : "Nothing is known of this yet."), h("ul.keys")));
  if ($("table").open) rows();
}

/** Arms on a line, or of which nobody knows where they lie: what is expected with what it may be off. */
async function flat({ values: list, best }) {
  const { chart } = await import("./chart.js");
  const places = across(arms);
  const order = list.map((_, k) => k).sort(places ? (a, b) => places.x[a] - places.x[b] : (a, b) => (list[b] ?? -Infinity) - (list[a] ?? -Infinity));
  const x = order.map((k, i) => (places ? places.x[k] : i + 1));
  const series = [{ kind: "line", class: "line1", x, y: order.map((k) => list[k]), lead: true }];
  const measured = order.map((k, i) => [k, i]).filter(([k]) => belief.counts?.[k]);
  if (layer === "mean") series.unshift({ name: "two standard deviations", kind: "band", x, low: order.map((k) => bound(k, -2)), high: order.map((k) => bound(k, 2)) });
  series.push({ name: "measured", kind: "dots", class: "dots2", r: 5, x: measured.map(([, i]) => x[i]), y: measured.map(([k]) => list[k]) });
  show($("field"), chart({ title: LAYERS[layer][0], words: best === null ? "Nothing is known yet." : `Best so far: ${name(best)}.`, across: places ? arms.axes[0] : "sites, best first", up: now.unit ?? "",
    series, mark: chosen === null ? null : x[order.indexOf(chosen)], heads: ["site", LAYERS[layer][0]], cells: order.map((k) => [name(k), text(list[k])]), picked: (i) => pick(order[i]), card: "" }));
}
const bound = (k, by) => (belief.mean[k] === null ? null : belief.mean[k] + by * (belief.deviation[k] ?? 0));

function choices() {
  const kinds = Object.keys(LAYERS).filter((key) => key !== "limit" || belief.limit?.some((v) => v !== null));
  const pill = (key, words) => h("label", h("input", { type: "radio", name: "layer", value: key, checked: key === layer, onchange: () => { layer = key; history.replaceState(null, "", `#${hash()}`); draw(); say(`${words} is shown.`); } }), h("span", words));
  show($("layers"), h("fieldset.pills", h("legend.unseen", "What the colours show"), kinds.map((key) => pill(key, LAYERS[key][0]))));
}

const hash = () => new URLSearchParams({ ...(layer === "mean" ? {} : { layer }), ...(chosen === null ? {} : { arm: chosen }) }).toString();

async function pick(k, { speak = true } = {}) {
  chosen = k;
  history.replaceState(null, "", `#${hash()}`);
  draw();
  if (speak && !belief.waiting) say(`${name(k)}: ${around(belief.mean[k], belief.deviation[k])}${unit()}, measured ${counted(belief.counts?.[k] ?? 0, "time")}.`);
  await arm();
}

async function arm() {
  if (chosen === null) { show($("arm"), h("h2", "Choose a site"), h("p.faint", "Tap a site on the map, or use the arrow keys, to see what was measured there and what is expected.")); return; }
  const k = chosen;
  const facts = [["Expected", `${around(belief.mean[k], belief.deviation[k])}${belief.mean[k] === null ? "" : unit()}`], ["Chance to be best", belief.chance?.[k] === 0 ? `< ${percent(0.01)}` : percent(belief.chance?.[k])], ["Measured", counted(belief.counts?.[k] ?? 0, "time")]];
  const head = [h("h2", name(k)), h("p.faint", place(where(k))), h("dl.facts", facts.map(([term, value]) => [h("dt", term), h("dd", value)])),
    h("p", h("a", { href: at(study) }, "Measure today"), visit(k))];
  const more = h("div", h("p.wait", "…"));
  show($("arm"), head, more);
  try {
    const found = await get(here(`/arm/${k}`));
    if (chosen === k) show(more, told(found), neighbours(found));
  } catch (error) { complain(more, error, arm); }
}

/** How one comes to a site, where the way is weighed; and a button for who is there. */
function visit(k) {
  const [from, there] = [now.moves ? position(now) : null, { arm: k, name: name(k), coordinates: where(k) }];
  if (!now.moves) return null;
  return h("span", " ", leg(now, from, there), " ", from?.arm === k ? null : h("button.plain", { type: "button", "data-key": "here", onclick: () => { stand(there); say(`You are at ${there.name}.`); load(); } }, "We are here"));
}

function told(found) {
  const list = found.trials.filter((one) => one.reward !== null);
  if (!list.length) return [];
  const before = ({ predicted: p }) => (p ? around(p.mean, p.deviation) : "–");
  return [h("h3", "Measured, and what was expected before"), table(`Measured at ${found.name}`, ["Measured", "Expected", "When", "Who"],
    list.map((one) => [exact(one.reward), before(one), h("span", { title: whole(one.measured) }, when(one.measured)), one.told_by ?? ""]))];
}

function neighbours(found) {
  const list = found.neighbours ?? [];
  if (!list.length) return [];
  return [h("h3", "Most alike"), h("ul.chips", list.slice(0, 6).map((one) => h("li", button([h("strong", one.name), one.correlation === null ? "" : ` ${percent(one.correlation)}`], () => pick(one.arm)))))];
}

let sort = { column: 1, down: true };
function rows() {
  const list = belief.mean.map((m, k) => [k, m, belief.deviation[k], belief.limit?.[k] ?? null, belief.counts?.[k] ?? 0, belief.chance?.[k] ?? null]);
  const value = (row) => (sort.column === 0 ? name(row[0]) : row[sort.column]);
  list.sort((a, b) => {
    const [p, q] = [value(a), value(b)];
    const order = p === null ? 1 : q === null ? -1 : typeof p === "string" ? p.localeCompare(q, undefined, { numeric: true }) : p - q;
    return p === null || q === null ? order : sort.down ? -order : order;
  });
  const heads = ["Site", "Expected", "±", "Promise", "Measured", "Chance to be best"];
  const found = table("Every site", heads, list.slice(0, 500).map(([k, m, d, l, n, c]) =>
    [button(name(k), () => { pick(k); $("arm").scrollIntoView({ block: "nearest" }); }, ".plain"), number(m, 4), number(d, 2), number(l, 4), number(n), percent(c)]), [1, 2, 3, 4, 5]);
  found.querySelectorAll("thead th").forEach((th, column) => {
    th.setAttribute("aria-sort", column !== sort.column ? "none" : sort.down ? "descending" : "ascending");
    th.replaceChildren(h("button", { type: "button", "data-key": `sort-${column}`, onclick: () => { sort = { column, down: column === sort.column ? !sort.down : column > 0 }; rows(); } }, heads[column]));
  });
  show($("table").lastElementChild, found, list.length > 500 ? h("p.faint", `The first 500 of ${number(list.length)}.`) : null);
}

/** What is believed now, and which site would be next from where the team is. */
const present = () => here(`/belief?digits=5${now.moves && position(now) ? `&from=${position(now).arm}` : ""}`);

const moments = new Map();
const asOf = (sequence) => { // they never change
  if (!moments.has(sequence)) moments.set(sequence, columns(here(`/belief?digits=5&at=${sequence}`)).catch((error) => { moments.delete(sequence); throw error; }));
  return moments.get(sequence);
};

let moving = 0;
async function move(k) {
  const mark = ++moving;
  step = k >= steps.length ? null : k;
  words();
  try {
    const found = step === null ? await columns(present()) : await asOf(steps[step].sequence);
    if (mark !== moving) return;
    belief = found;
    draw();
    ahead(k);
  } catch (error) { complain($("legend"), error, () => move(k)); }
}

/** Fetch what lies beside the slider, so that the next step is there at once. */
async function ahead(k) {
  for (const next of [k - 1, k + 1, k - 2, k + 2, k + 3, k - 3]) {
    if (steps[next] && !moments.has(steps[next].sequence)) { try { await asOf(steps[next].sequence); } catch { return; } }
  }
}

function words() {
  const output = $("moment");
  if (!output) return;
  const one = step === null ? null : steps[step];
  const said = one === null ? `Now, after ${counted(steps.length, "entry", "entries")}` : `After ${step + 1} of ${steps.length}: ${one.name} ${exact(one.reward)}${unit()}${one.by ? `, ${one.by}` : ""} · ${whole(one.at)}`;
  output.textContent = said;
  $("slider").setAttribute("aria-valuetext", said);
}

function time() {
  if (steps.length < 1) { show($("time")); return; }
  const slider = h("input", { id: "slider", type: "range", min: 0, max: steps.length, step: 1, "aria-label": "Time" });
  slider.value = step ?? steps.length;
  slider.addEventListener("input", () => move(slider.valueAsNumber));
  show($("time"), h("div.time", h("span.faint", "Start"), slider, button("Now", () => { slider.value = steps.length; move(steps.length); }, ".plain"), h("output#moment", { for: "slider" })));
  words();
}

async function history_() {
  const found = await get(here("/events?what=told,observed,amended,retracted&limit=10000"));
  steps = found.events.filter((one) => ["told", "observed", "amended", "retracted"].includes(one.what));
}

async function load() {
  try {
    const path = present();
    let fresh;
    [now, fresh] = await Promise.all([get(here()), columns(path)]);
    if (present() !== path) fresh = await columns(present()); // the team is elsewhere by now
    if (fresh.arms !== arms.count) { location.reload(); return; } // sites were added
    fixedEnds = { mean: ends(fresh.mean), limit: ends(fresh.limit ?? []), deviation: ends(fresh.deviation) };
    if (step === null) belief = fresh;
  } catch (error) {
    heard(error);
    if (belief && !belief.waiting) return;
    throw error;
  }
  draw();
  await history_().then(time, () => {});
  if (chosen !== null) arm();
}

async function start() {
  [arms, now] = await Promise.all([known(), get(here())]);
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.get("layer") in LAYERS) layer = asked.get("layer");
  if (/^\d+$/.test(asked.get("arm") ?? "") && Number(asked.get("arm")) < arms.count) chosen = Number(asked.get("arm"));
  field = new Field($("field"), arms, { picked: pick, label: `Map of ${study}` });
  field.place();
  blank();
  choices();
  arm();
  await load();
  choices();
  $("table").addEventListener("toggle", () => { if ($("table").open) rows(); });
  const person = await me();
  if (person.demo === study) $("time").after(reveal());
  follow(() => load());
}

/** The sites, before anything is known of them: working out what is believed may take seconds where they are many. */
function blank() {
  const nothing = Array(arms.count).fill(null);
  belief = { mean: nothing, deviation: nothing, counts: nothing, open: now.open.map((one) => one.arm), waiting: true };
  draw();
}

const reveal = () => button("Show the truth", async (event) => {
  try {
    truth = (await get("/demo/truth")).mean;
    LAYERS.truth = ["The truth", "truth", "viridis", "the truth"];
    layer = "truth";
    choices();
    draw();
    event.target.remove();
  } catch (error) { complain($("legend"), error); }
}, ".second");

begin();
filling($("field"), start);
