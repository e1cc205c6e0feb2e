// A new study: from a file as people have it, with a look at it before anything is created.

import { Trouble, at, key, post, root } from "./api.js";
import { LEVELS, colours, levels } from "./colour.js";
import { $, h, s, say, show, table } from "./dom.js";
import { ways } from "./entry.js";
import { counted, exact, number } from "./numbers.js";
import { me } from "./person.js";
import { across, layout } from "./places.js";
import { read } from "./reading.js";
import { begin, complain } from "./shell.js";

const form = $("form");
const MOST_DRAWN = 20_000;
let found = null; // the file as the server reads it
let looking = null; // settled when it was read: who begins before waits for it
let looks = 0;
let by = key();

async function look(bytes, name) {
  const mark = ++looks;
  $("preview").setAttribute("aria-busy", "true");
  let [answer, failure] = [null, null];
  try { answer = await post("/arms/preview", await bytes, { type: "text/csv" }); } catch (error) { failure = error; }
  if (mark !== looks) return; // another file was chosen since
  found = answer;
  if (failure) { complain($("preview"), failure); return; }
  if (name && !form.elements.name.value) form.elements.name.value = name.replace(/\.[^.]*$/, "");
  preview();
  plausible();
}

const problem = ({ row, column, what }) => h("li", h("strong", [row ? `row ${row}` : "", column ? `column ${column}` : ""].filter(Boolean).join(", ")), row || column ? ": " : "", what);
const arms = () => {
  const axes = found.axes ?? [];
  return { axes, names: found.names ?? null, coordinates: axes.length ? found.columns[axes[0]].map((_, k) => axes.map((axis) => found.columns[axis][k])) : null };
};

function preview() {
  const heads = Object.keys(found.columns ?? {});
  const problems = found.problems ?? [];
  const rows = heads.length ? found.columns[heads[0]].slice(0, 8).map((_, k) => heads.map((head) => { const v = found.columns[head][k]; return typeof v === "number" ? exact(v) : v ?? ""; })) : [];
  const map = h("div");
  show($("preview"), problems.length ? h("div.notice.warn", { role: "alert" }, h("p", h("strong", `${counted(problems.length, "thing")} to put right in the file:`)), h("ul.problems", problems.slice(0, 20).map(problem))) :
    h("div.notice.good", h("p", h("strong", counted(found.arms ?? rows.length, "site")), heads.length ? `, with ${heads.join(", ")}.` : ".")),
  (found.remarks ?? []).map((words) => h("p.faint", words)), heads.length ? h("div.card", map, table("The first rows", heads, rows)) : null);
  say(problems.length ? `${counted(problems.length, "problem")} in the file.` : `${counted(found.arms, "site")} found.`);
  if (!problems.length && found.axes?.length === 2 && found.arms <= MOST_DRAWN) sites(map);
}

/** The sites on a map; what was understood is shown before it is there. */
async function sites(node) {
  const { Field } = await import("./field.js");
  const field = node.isConnected ? new Field(node, arms(), { label: "The sites", most: 0.35 }) : null;
  field?.draw({ values: found.columns[found.axes[0]].map(() => null), low: 0, high: 1, ramp: "viridis", text: number });
}

// What is known: two numbers, and two sliders on scales of logarithms.
const slide = (node, low, high) => low * (high / low) ** (node.valueAsNumber / 100);
const meant = {}; // by field: what was answered when it was asked back
const understood = (id) => (meant[id]?.text === $(id).value ? { value: meant[id].value } : read($(id).value));
const typed = (id) => understood(id).value ?? null;
const LEVEL = { ids: ["low", "high"], note: "level-note" };
const GOING = { ids: ["per-move", "per-distance"], note: "going-note" };

/** Ask back what can be read in two ways; say whether all is clear. */
function clear({ ids, note } = LEVEL) {
  const asked = ids.filter((id) => understood(id).either);
  show($(note), asked.map((id) => ways($(id).value, understood(id).either, (value) => {
    meant[id] = { text: $(id).value, value };
    clear({ ids, note });
    plausible();
    ($(note).querySelector("button") ?? $(id)).focus();
  })), ids.filter((id) => meant[id]?.text === $(id).value).map((id) => h("p.faint", `“${$(id).value.trim()}” is read as ${exact(meant[id].value)}.`)));
  return !asked.length;
}

/** What is wrong with the two numbers, and in which field; null if nothing is. */
function unclear() {
  if (!clear()) return ["Say which number you mean: it can be read in two ways.", $("level-note").querySelector("button")];
  for (const [id, which] of [["low", "smaller"], ["high", "larger"]]) {
    if (!$(id).value.trim()) return [`Say what sites usually bring: the ${which} number is missing.`, $(id)];
    if (understood(id).problem) return [understood(id).problem, $(id)];
  }
  return typed("high") > typed("low") ? null : [`What sites usually bring: the smaller number first, then the larger one; these are read as ${exact(typed("low"))} and ${exact(typed("high"))}.`, $("low")];
}

/** What is wrong with what moves cost, and in which field; null if nothing is. */
function dear() {
  if (!clear(GOING)) return ["Say which number you mean: it can be read in two ways.", $("going-note").querySelector("button")];
  const wrong = GOING.ids.find((id) => $(id).value.trim() && !(typed(id) >= 0));
  if (wrong) return [understood(wrong).problem ?? `What a move costs is 0 or more, not ${exact(typed(wrong))}.`, $(wrong)];
  return typed("per-distance") && !found.axes?.length ? ["The file does not say where sites lie, so that there is no distance to pay for.", $("per-distance")] : null;
}

/** What moves cost, as it is sent; nothing if nobody said. */
function moves() {
  const [each, far] = GOING.ids.map(typed);
  return each || far ? { moves: { per_move: each ?? 0, per_distance: far ?? 0 } } : {};
}

function extent() {
  const places = found && !found.problems?.length ? across(arms()) : null;
  if (!places) return null;
  const globe = places.globe ? 111.195 : 1; // kilometres
  const span = (v) => (v ? v.reduce((a, b) => Math.max(a, b)) - v.reduce((a, b) => Math.min(a, b)) : 0);
  return { span: Math.hypot(span(places.x), span(places.y)) * globe || 1, globe };
}

function known() {
  const [low, high, size] = [typed("low"), typed("high"), extent()];
  const level = low !== null && high !== null && high > low;
  const sd = level ? (high - low) / 2 : null;
  return { mean: level ? (low + high) / 2 : null, sd, length: size ? slide($("length"), size.span / 100, size.span * 2) : null, noise: sd ? slide($("noise"), sd / 20, sd * 4) : null, size };
}

/** The same numbers for the same seed, so that surfaces move with the sliders and do not jump. */
function random(seed) {
  let a = seed;
  const uniform = () => { a = (a + 0x6d2b79f5) | 0; let t = Math.imul(a ^ (a >>> 15), 1 | a); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

const WAVES = 300;
/** A surface whose places go together like exp(-distance / length): a sum of waves of random direction and pitch. */
function surface(places, length, seed) {
  const normal = random(seed);
  const waves = Array.from({ length: WAVES }, () => { const pitch = 1 / (Math.abs(normal()) + 1e-9); return [normal() * pitch, normal() * pitch, normal(), normal()]; });
  return places.x.map((x, k) => waves.reduce((sum, [u, v, a, b]) => {
    const turn = (u * x + v * (places.y?.[k] ?? 0)) / length;
    return sum + a * Math.cos(turn) + b * Math.sin(turn);
  }, 0) / Math.sqrt(WAVES));
}

function picture(plan, values, low, high) {
  const shades = colours("viridis");
  const level = levels(values, low, high);
  const size = plan.kind === "grid" ? [plan.w + 0.4, plan.h + 0.4] : [9, 9];
  return s("svg", { viewBox: `0 0 220 ${plan.height}`, "aria-hidden": "true" }, level.map((l, k) => s("rect", { x: plan.x[k] - size[0] / 2, y: plan.y[k] - size[1] / 2, width: size[0], height: size[1], rx: plan.kind === "grid" ? 0 : 5, fill: shades[Math.min(l, LEVELS - 1)] })));
}

function plausible() {
  const { mean, sd, length, noise, size } = known();
  $("length-said").textContent = length === null ? "Choose a file first." : `about ${number(length, 2)}${size.globe > 1 ? " km" : ""}: sites so far apart have a correlation of ${number(0.37)}`;
  $("length-unit").textContent = size?.globe > 1 ? "km" : "unit of distance";
  $("noise-said").textContent = noise === null ? "Say first what sites usually bring." : `± ${number(noise, 2)}: the same site twice differs by about ${number(noise * 1.41, 2)}`;
  if (mean === null || length === null || !form.elements.know_length.checked) { show($("surfaces")); return; }
  const places = across(arms());
  const plan = layout(arms(), 220, 180);
  const drawn = plan.x && places.x.length <= 2500 ? [11, 12, 13].map((seed) => picture(plan, surface(places, length / size.globe, seed).map((v) => mean + sd * v), mean - 2 * sd, mean + 2 * sd)) : [];
  const normal = random(5);
  const dots = form.elements.know_noise.checked ? h("div", h("h3", "One site, measured ten times"), s("svg", { viewBox: "0 0 440 44", "aria-hidden": "true" }, s("path", { class: "axis", d: "M20 22H420" }),
    s("g", { class: "dots1" }, Array.from({ length: 10 }, () => s("circle", { cx: 220 + 100 * Math.max(-2, Math.min(2, (normal() * noise) / sd)), cy: 22, r: 6, opacity: 0.75 }))),
    [[20, mean - 2 * sd], [420, mean + 2 * sd]].map(([x, v]) => s("text", { class: "soft", x, y: 43, "font-size": 14, "text-anchor": x < 99 ? "start" : "end" }, number(v))))) : null;
  show($("surfaces"), h("h3", "Fields as you describe them"), h("p.faint", `Dark is ${number(mean - 2 * sd)}, light is ${number(mean + 2 * sd)}. Does yours look like one of these?`), h("div.surfaces", drawn), dots);
}

function told() {
  const { mean, sd, length, noise } = known();
  const sure = Number(form.sure.value);
  const about = (v) => (sure === 1 ? v : [v / sure, v * sure]);
  return {
    ...(form.elements.know_level.checked && mean !== null ? { mean: sure === 1 ? mean : [mean - sd * (sure - 1), mean + sd * (sure - 1)], sd: about(sd) } : {}),
    ...(form.elements.know_length.checked && length !== null ? { length: about(length) } : {}),
    ...(form.elements.know_noise.checked && noise !== null ? { noise_sd: about(noise) } : {}),
    ...(form.elements.drifts.checked ? { drift: true } : {}),
  };
}

async function submit(event) {
  event.preventDefault();
  const pressed = form.querySelector("button[type=submit]");
  pressed.disabled = true;
  try { await looking; await create(); } finally { pressed.disabled = false; }
}

async function create() {
  const wrong = (words, node) => { show($("answer"), h("p.bad", words)); node.focus(); };
  if (!found || found.problems?.length) { wrong(found ? "Put the file right first." : "Choose a file first.", $("file")); return; }
  if (!form.elements.name.value.trim()) { wrong("Give the study a name.", form.elements.name); return; }
  const unsure = (form.elements.know_level.checked ? unclear() : null) ?? dear();
  if (unsure) { unsure[1].closest("details").open = true; wrong(...unsure); return; }
  const rounds = form.rounds.value ? form.rounds.valueAsNumber : null;
  if (rounds !== null && !(Number.isInteger(rounds) && rounds > 0)) { wrong("The number of measurements is a whole number from 1.", form.rounds); return; }
  const said = told();
  const body = { name: form.elements.name.value.trim(), arms: found.columns, goal: form.goal.value, repeat: !form.once.checked,
    ...(rounds ? { rounds } : {}), ...(form.unit.value.trim() ? { unit: form.unit.value.trim() } : {}), ...(Object.keys(said).length ? { told: said } : {}), ...moves() };
  try {
    await post("/studies", body, { by });
    location.assign(at(body.name));
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    complain($("answer"), error);
    if (!error.lost) by = key();
  }
}

const open = (file) => { if (file) looking = look(file.arrayBuffer(), file.name); };
begin();
open($("file").files[0]); // chosen before this script ran
$("file").addEventListener("change", (event) => open(event.target.files[0]));
$("pasted").addEventListener("change", (event) => { if (event.target.value.trim()) looking = look(event.target.value, ""); });
for (const kind of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(kind, (event) => { event.preventDefault(); $("drop").classList.toggle("over", kind === "dragover"); if (kind === "drop") open(event.dataTransfer.files[0]); });
}
for (const [id, box] of [["low", "level"], ["high", "level"], ["length", "length"], ["noise", "noise"]]) $(id).addEventListener("input", () => { form.elements[`know_${box}`].checked = true; plausible(); });
for (const group of [LEVEL, GOING]) for (const id of group.ids) $(id).addEventListener("input", () => clear(group)); // not once it is left: a question that comes up under a finger moves what was to be pressed
form.addEventListener("change", plausible);
form.addEventListener("submit", submit);
plausible();
me().then((person) => { if (person.role !== "manage") form.replaceChildren(h("div.notice.warn", h("p", "You may not begin a study here: ask whoever runs the server."), h("p", h("a", { href: `${root}/` }, "All studies")))); });
