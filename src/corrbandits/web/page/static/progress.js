// Progress: what was found, what stopping would cost, what one more day is worth.

import { at, get, here, study } from "./api.js";
import { chart } from "./chart.js";
import { $, h, show, table } from "./dom.js";
import { follow, heard } from "./live.js";
import { around, counted, exact, number, percent } from "./numbers.js";
import { begin, filling } from "./shell.js";

const figure = (value, words) => h("p", h("strong", value), words);

function where(now, { best, reason }, worth) {
  const unit = now.unit ? ` ${now.unit}` : "";
  if (!best) return [h("p.big", now.told ? "No site can be called the best yet." : "Nothing measured yet."), h("p.why", now.told && reason ? reason : "The first measurements set the scale.")];
  return [h("p.kicker", "Best so far"), h("p.big", `${best.name}: ${around(best.mean, best.deviation)}${unit}`), h("div.figures",
    figure(percent(best.probability), "chance that no site is better"),
    figure(best.expected_loss === null ? "–" : `${number(best.expected_loss, 2)}${unit}`, "lost per round, on average, if you stopped now"),
    worth === null ? null : figure(`${number(worth, 2)}${unit}`, `is what one more measurement adds per round, on average; a day of them, between that and ${number(best.expected_loss, 2)}${unit}`),
    figure(`${number(now.told)}${now.rounds ? ` / ${number(now.rounds)}` : ""}`, "measurements"))];
}

function warning(one) {
  const look = `Look at trial ${one.trial}`;
  const rest = one.trial && one.do.startsWith(look) ? one.do.slice(look.length) : null;
  const advice = rest === null ? one.do : [h("a", { href: `${at(study, "history")}#trial=${one.trial}` }, look), rest];
  return h("div.notice.warn", h("p", h("strong", one.what)), one.do ? h("p", advice) : null);
}

function charts({ rewards, moments }, now) {
  const unit = now.unit ?? "";
  if (!rewards.length) return [];
  const column = (name) => moments.map((one) => one[name]);
  const t = column("told");
  const order = rewards.map((_, k) => k + 1);
  const across = "measurements";
  const said = [chart({ title: "What was measured", words: `${counted(order.length, "measurement")}. The line is what was expected of the best site at that time.`, across, up: unit,
    series: [{ name: "measured", kind: "dots", x: order, y: rewards.map((one) => one.reward), lead: true }, { name: "best so far", kind: "line", class: "line2", x: t, y: column("mean") }],
    heads: ["no.", "measured", "trial"], cells: rewards.map((one, k) => [number(k + 1), exact(one.reward), one.trial]) })];
  if (column("chance").filter((v) => v !== null).length > 1) {
    said.push(chart({ title: "Chance that the best is best", words: "How sure it is that no site is better.", across, ends: [0, 1], text: percent, series: [{ kind: "line", x: t, y: column("chance"), lead: true }],
      heads: ["after", "chance", "best"], cells: moments.map((one) => [number(one.told), percent(one.chance), one.name ?? "–"]) }),
    chart({ title: "What stopping would cost", words: "Per round, on average. When it is small enough for you, stop.", across, up: unit, series: [{ kind: "line", x: t, y: column("loss"), lead: true }],
      heads: ["after", "cost"], cells: moments.map((one) => [number(one.told), number(one.loss)]) }));
  }
  return said;
}

const LEARNT = { noise_sd: "One measurement scatters by", sd: "Sites differ by", length: "Sites are alike up to a distance of", neighbours: "Neighbours correlate by", site: "Share of what is each site's own" };

function learnt(found, now) {
  if (!found) return [];
  const unit = (key) => (["noise_sd", "sd"].includes(key) && now.unit ? ` ${now.unit}` : key === "length" && now.axes[0] === "latitude" ? " km" : "");
  const rows = Object.keys(LEARNT).filter((key) => found[key]).flatMap((key) => [found[key]].flat().map((one) =>
    [LEARNT[key], h("strong", `${key.endsWith("sd") ? "± " : ""}${number(one.median, 2)}${unit(key)}`), `${number(one.low, 2)} – ${number(one.high, 2)}`]));
  return [h("h2#learnt-title", "What was learnt"), table("Scatter, distance and relation", ["", "most likely", "nine times in ten between"], rows, [1, 2]),
    found.repeated === false ? h("p.why", "Measure one site twice: until then, scatter and what is each site's own look alike.") : null];
}

let seen = false;
async function load() {
  try {
    const now = await get(here());
    const [best, standing] = await Promise.all([get(here("/best")), get(here("/standing"))]);
    show($("warnings"), standing.warnings.map(warning));
    show($("where"), where(now, best, null));
    seen = true;
    const [found, { learnt: known }] = await Promise.all([get(here("/progress"), 60), get(here("/learnt"))]);
    show($("where"), where(now, best, found.worth));
    const last = found.moments.at(-1);
    if (best.best && last?.told === now.told) Object.assign(last, { chance: best.best.probability, loss: best.best.expected_loss }); // from more draws
    show($("charts"), charts(found, now));
    show($("learnt"), learnt(known, now));
  } catch (error) {
    heard(error);
    if (!seen) throw error;
  }
}

begin();
filling($("where"), load);
follow(() => load());
