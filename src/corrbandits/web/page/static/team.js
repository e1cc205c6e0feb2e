// Where the team is, on Today: what is taken for it, and a field for another place.

import { button, h, say, show } from "./dom.js";
import { called, known, site, sites } from "./sites.js";
import { position, stand } from "./where.js";

let saying = false; // whether somebody is saying where they are
const focus = (node) => node?.focus({ preventScroll: true });

/** Say where the team is, if the way from there is weighed; `changed` is called when they are elsewhere. */
export function team(node, now, changed) {
  if (saying && node.querySelector("form")) return; // somebody may be typing
  const turn = (on) => { saying = on; team(node, now, changed); focus(node.querySelector(on ? "input" : "button")); };
  if (!now.moves) show(node);
  else if (saying) show(node, form(now, turn, changed));
  else {
    const at = position(now);
    show(node, h("p.line", h("span.grow", at ? ["We are at ", h("strong", at.name)] : "Where are you? The way from there is weighed."),
      h("button.plain", { type: "button", "data-key": "where", onclick: () => known(now.arms).catch(() => {}).then(() => turn(true)) }, at ? "Somewhere else?" : "Say where")));
  }
}

function form(now, turn, changed) {
  const field = h("input", { id: "standing", list: "places", autocomplete: "off", maxlength: 200, "aria-describedby": "nowhere" });
  const wrong = h("div#nowhere.note", { "aria-live": "assertive" });
  const kept = (event) => {
    event.preventDefault();
    const name = field.value.trim();
    const arm = sites() && name ? called(name) : -1;
    if (arm < 0) { show(wrong, sites() ? absent(name) : h("p.bad", "Which sites there are is not known here yet: there is no connection.")); focus(field); return; }
    stand(site(arm));
    say(`You are at ${site(arm).name}.`);
    turn(false);
    changed();
  };
  return h("form.list.card", { onsubmit: kept }, h("label", { for: "standing" }, "We are at"), h("span.row", field, h("button", { type: "submit" }, "Keep"), button("Leave it", () => turn(false), ".plain")),
    h("datalist#places", (sites()?.names ?? []).slice(0, 1000).map((name) => h("option", { value: name }))), wrong);
}

/** That there is no site of a name. */
export const absent = (name) => h("p.bad", name ? `There is no site called “${name}” here.` : "Say which site.");
