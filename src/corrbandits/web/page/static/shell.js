// What every view has: whether the connection stands, what waits to be sent, and the worker that opens pages offline.

import { Trouble, at, get, root, study } from "./api.js";
import { $, button, h, say, show } from "./dom.js";
import { connection } from "./live.js";
import { counted, exact, when } from "./numbers.js";
import { entries, flush, forget, revise } from "./queue.js";

const WORDS = { live: "Live", connecting: "Connecting …", lost: "No connection" };

function state() {
  if (!study) return;
  const place = $("state");
  if (connection.state === "absent") { place.hidden = true; return; }
  place.className = `state ${connection.state}`;
  place.hidden = false;
  const since = connection.state === "lost" ? ` · as of ${when(connection.since / 1000)}` : "";
  place.replaceChildren(h("span.dot", { "aria-hidden": "true" }), h("span", WORDS[connection.state], h("span.more", since)));
}

const DID = { tell: "", observe: "", amend: "changed to ", retract: "taken back", cancel: "given back" };

function waiting(entry) {
  const what = h("span", h("strong", entry.name), " ", DID[entry.kind], entry.reward === undefined ? "" : exact(entry.reward),
    h("span.faint", ` · typed ${when(entry.at)}${entry.study === study ? "" : ` · ${entry.study}`}`));
  const choices = [];
  if (entry.refused) {
    if (entry.kind === "tell" && entry.status === 409) {
      const closed = entry.refused.includes("takes no reward");
      if (!closed) choices.push(button("Mine counts", () => { revise(entry, { kind: "amend" }); flush(); }));
      choices.push(button(closed ? "Count it" : "Keep both", () => { revise(entry, { kind: "observe" }); flush(); }));
    } else choices.push(button("Try again", () => { revise(entry, {}); flush(); }));
  }
  choices.push(button(entry.refused ? "Drop it" : "Discard", () => {
    if (entry.refused || confirm(`Discard ${exact(entry.reward)} at ${entry.name}? It has not been sent.`)) forget(entry);
  }, ".plain"));
  return h("li", what, entry.refused ? h("p", entry.refused) : null, h("span.row", choices));
}

let sending = null;

function outbox() {
  const list = entries();
  const refused = list.filter((one) => one.refused);
  const rest = list.filter((one) => !one.refused && (connection.state === "lost" || Date.now() / 1000 - one.at > 1.5));
  clearTimeout(sending);
  if (list.length) sending = setTimeout(outbox, 1600); // what has just been typed may well arrive at once
  const said = [];
  if (rest.length) {
    said.push(h("section.notice.kept", { "aria-label": "Not sent yet" },
      h("p", h("strong", counted(rest.length, "entry", "entries"), " kept on this device."), " Sent as soon as there is a connection. If you close the page, open it again then."),
      h("ul", rest.map(waiting)), button("Send now", () => flush())));
  }
  if (refused.length) {
    said.push(h("section.notice.warn", { "aria-label": "Not taken" },
      h("p", h("strong", counted(refused.length, "entry was", "entries were"), " not taken.")), h("ul", refused.map(waiting))));
  }
  const before = $("outbox").childElementCount;
  const shape = JSON.stringify([rest, refused]);
  if ($("outbox").dataset.shape === shape) return;
  $("outbox").dataset.shape = shape;
  show($("outbox"), said);
  if (said.length > before) say(said.at(-1).querySelector("p").textContent);
}

async function worker() {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  const first = !navigator.serviceWorker.controller;
  try {
    await navigator.serviceWorker.register(`${root}/sw.js`, { scope: `${root}/` });
    const { active } = await navigator.serviceWorker.ready;
    if (first) setTimeout(() => active.postMessage([location.href.split("#")[0], ...performance.getEntriesByType("resource").map((one) => one.name)]), 2000);
  } catch { /* pages then need a connection to open */ }
}

/** Say in a node what went wrong, with a way to try again. */
export function complain(node, error, again) {
  if (!(error instanceof Trouble)) throw error;
  if (connection.state === "absent") {
    show(node, h("div.notice.warn", { role: "alert" }, h("p", h("strong", `There is no study called “${study}” here.`), " It may have another name. ", h("a", { href: `${root}/` }, "All studies"))));
    return;
  }
  show(node, h("div.notice.warn", { role: "alert" }, h("p", h("strong", error.lost ? "Nothing came from the server. " : ""), error.message),
    again ? button("Try again", again) : null));
}

/** Run what fills a part of the page, and say so where it fails. */
export async function filling(node, work) {
  try { await work(); } catch (error) { complain(node, error, () => filling(node, work)); }
}

let person = null;
/** Who we are: {name, role, signed_in, demo}. */
export const me = () => (person ??= get("/me").catch((error) => { person = null; if (error.lost) return { name: null, role: "tell", demo: null }; throw error; }));

/** Begin: call once in each view. */
export function begin() {
  addEventListener("connection", () => { state(); outbox(); if (connection.state === "live") flush(); else if (connection.state === "lost") say("The connection is lost. What you type is kept."); });
  addEventListener("typed", outbox);
  addEventListener("unsigned", () => {
    $("outbox").before(h("div.notice.warn", { role: "alert" }, h("p", "You are not signed in any more. ",
      h("a", { href: `${root}/signin?next=${encodeURIComponent(study ? at(study) : `${root}/`)}` }, "Sign in"), "; what you typed is kept.")));
  }, { once: true });
  state();
  outbox();
  flush();
  worker();
}
