// All studies.

import { at, get } from "./api.js";
import { $, h, show } from "./dom.js";
import { ago, counted, number, whole } from "./numbers.js";
import { me } from "./person.js";
import { begin, filling } from "./shell.js";

function card(one, demo) {
  const rounds = one.rounds ? ` of ${number(one.rounds)}` : "";
  return h("li", h("a.card", { href: at(one.name) }, h("strong", one.name), h("span", `${counted(one.told, "measurement")}${rounds} · ${counted(one.arms, "site")}`),
    h("span.faint", { title: whole(one.changed) }, one.name === demo ? "a field to play with · " : "", one.open ? `${number(one.open)} being measured · ` : "", ago(one.changed))));
}

begin();
filling($("studies"), async () => {
  const [{ studies }, person] = await Promise.all([get("/studies"), me()]);
  $("new").hidden = person.role !== "manage";
  show($("studies"), studies.length ? h("ul.studies", studies.map((one) => card(one, person.demo))) :
    h("div.card.lead", h("h2", "No study yet"), h("p.why", "A study needs a list of places, as a spreadsheet has them, and a number of rounds. Then it says where to measure first.")));
});
