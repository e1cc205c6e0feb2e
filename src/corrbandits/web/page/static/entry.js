// A field for what was measured.

import { button, h, say, unique } from "./dom.js";
import { exact } from "./numbers.js";
import { read } from "./reading.js";
import { moment } from "./when.js";

const BESIDE = 6; // a unit of so many letters has room beside the number

/** The question which of two readings of what was typed is meant; `meant(value)` is called with the answer. */
export function ways(text, [decimal, thousands], meant) {
  const choice = (value, shown, words) => button([h("strong", shown), h("span", words)], () => meant(value), ".either");
  return [h("p", `“${text.trim()}” can be read in two ways. Which one do you mean?`),
    h("div.row", choice(decimal, exact(decimal), "with decimals"), choice(thousands, String(thousands), "a whole number"))];
}

/**
 * A form with one number in it. `done(value, how)` is called once it is clear what was meant: "1,234" is asked back. If it
 * is `timed`, there is a choice of when it was measured, and `how` says so: {measured}, or nothing for now.
 */
export function entry({ label, unit = null, action = "Save", start = "", focus = false, done, small = false, timed = false }) {
  const id = unique("reward");
  const input = h("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", enterkeyhint: "done", maxlength: 40,
    "aria-describedby": `${id}-note`, value: start, "data-key": small ? `${label}` : "reward" });
  const long = unit?.length > BESIDE;
  const note = h("div.note", { id: `${id}-note`, "aria-live": "assertive" });
  const clear = () => { note.replaceChildren(); form.querySelectorAll("[aria-invalid]").forEach((one) => one.removeAttribute("aria-invalid")); };
  const time = timed ? moment() : null;
  const complain = (problem, field) => {
    note.append(h("p.bad", problem));
    field.setAttribute("aria-invalid", "true");
    field.focus();
    say(problem);
  };
  const settle = (value) => {
    clear();
    const { problem, field, ...how } = time?.said() ?? {};
    if (problem) { complain(problem, field); return; }
    input.value = "";
    time?.reset();
    done(value, how);
  };

  const form = h(small ? "form.entry.small" : "form.entry", { novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    clear();
    const found = read(input.value);
    if (found.either) {
      note.append(...ways(input.value, found.either, settle));
      note.querySelector("button").focus();
    } else if (found.problem) complain(found.problem, input);
    else settle(found.value);
  } }, h("label", { for: id }, label, long ? h("span.faint", ` in ${unit}`) : null),
  h("div.field", h("span.box", input, unit && !long ? h("span.unit", { "aria-hidden": "true" }, unit) : null), h("button.main", { type: "submit" }, action)), time?.node, note);
  if (unit) input.setAttribute("aria-label", `${label} (${unit})`);
  if (unit && !long) input.style.paddingRight = `${1.3 + 0.7 * unit.length}rem`; // the number ends where the unit begins
  input.addEventListener("input", () => { if (note.childNodes.length) clear(); });
  if (focus) queueMicrotask(() => input.focus());
  return form;
}
