// When something was measured: now, or at a time of the reader's own clock.

import { now } from "./clock.js";
import { h, unique } from "./dom.js";
import { when } from "./numbers.js";

const SLACK = 60; // seconds that a time may lie ahead, as the server has it: clocks differ

/** A time as a field for dates and hours has it: in the reader's zone, to the minute. */
const local = (seconds) => {
  const date = new Date(seconds * 1000);
  return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/**
 * A choice between now and another time: {node, said(), reset()}. `said` is {} for now, {measured} in seconds since 1970
 * for another time, and {problem} for one that cannot be.
 */
export function moment() {
  const name = unique("when");
  const field = h("input", { type: "datetime-local", "aria-label": "When it was measured", min: "1970-01-02T00:00", "data-key": "measured-at" });
  const radio = (value, words, more) => h("label", h("input", { type: "radio", name, value, ...more, onchange: () => { turn(value === "then"); } }), h("span", words));
  const pills = [radio("now", "now", { checked: true }), radio("then", "at …", {})];
  field.hidden = true;
  const then = () => pills[1].firstChild.checked;
  const turn = (other) => {
    field.hidden = !other;
    if (!other) return;
    if (!field.value) field.value = local(now());
    field.max = local(now());
  };
  const said = () => {
    if (!then()) return {};
    const seconds = new Date(field.value).getTime() / 1000;
    if (!field.value || Number.isNaN(seconds)) return { problem: "Say when it was measured: the day and the hour.", field };
    return seconds > now() + SLACK ? { problem: `It cannot have been measured in the future: it is ${when(now())} now.`, field } : { measured: seconds };
  };
  const reset = () => { pills[0].firstChild.checked = true; turn(false); };
  return { node: h("div.row.when", h("fieldset.pills", h("legend", "Measured"), pills), field), said, reset };
}
