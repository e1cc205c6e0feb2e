// What every view has: whether the connection stands, what waits to be sent, and the worker that opens pages offline.

import { Trouble, at, root, study } from "./api.js";
import { $, button, h, say, show } from "./dom.js";
import { connection } from "./live.js";
import { counted, exact, when } from "./numbers.js";
import { foreign, introduced, me, own } from "./person.js";
import { entries, flush, forget, revise } from "./queue.js";
import { choices, met } from "./refusal.js";

const WORDS = { live: "Live", connecting: "Connecting …", lost: "No connection", unsigned: "Signed out" };

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

const did = ({ kind, name, reward }) => h("span", h("strong", name), " ", DID[kind], reward === undefined ? "" : exact(reward));

function waiting(entry) {
  const whose = foreign(entry) ? ` by ${entry.by ?? "somebody else"}` : "";
  const refused = foreign(entry) ? null : entry.refused; // what becomes of it is for who typed it to say
  const what = h("span", did(entry), h("span.faint", ` · typed ${when(entry.at + (entry.ahead ?? 0))}${entry.measured ? `, measured ${when(entry.measured)}` : ""}${whose}${entry.study === study ? "" : ` · ${entry.study}`}`));
  const again = !refused ? [] : entry.now ? choices(entry) : [["Try again", {}]];
  const drop = () => { if (refused || confirm(`Discard “${did(entry).textContent}”? It has not been sent.`)) forget(entry); };
  return h("li", what, refused ? h("p", entry.now ? met(entry.now) : refused) : null,
    h("span.row", again.map(([words, edit]) => button(words, () => { revise(entry, edit); flush(); })), button(refused ? "Drop it" : "Discard", drop, ".plain")));
}

let sending = null;

/** Entries under what is said of them. */
const box = (kind, label, list, what, words, ...more) => (list.length ? h(`section.notice.${kind}`, { "aria-label": label }, h("p", h("strong", counted(list.length, "entry", "entries"), " ", what), words), h("ul", list.map(waiting)), more) : []);

function outbox() {
  clearTimeout(sending);
  if (!$("outbox")) return; // they have just signed out
  const list = entries();
  const late = (one) => (introduced() && Date.now() / 1000 - one.at > 1.5) || connection.state === "lost"; // others may well arrive at once
  const others = list.filter((one) => foreign(one));
  const refused = list.filter((one) => one.refused && !foreign(one));
  const rest = list.filter((one) => !one.refused && !foreign(one) && late(one));
  if (list.length) sending = setTimeout(outbox, 1600);
  const said = [
    box("kept", "Not sent yet", rest, "kept on this device.", " Sent as soon as there is a connection. If you close the page, open it again then.", button("Send now", () => flush())),
    box("kept", "Of somebody else", others, "kept on this device, typed by somebody else.", " Sent when they sign in here again."),
    box("warn", "Not taken", refused, "not taken.", "")].flat();
  const before = $("outbox").childElementCount;
  const shape = JSON.stringify([own(), rest, others, refused]);
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

function unsigned() {
  if ($("unsigned") || !$("outbox")) return;
  $("outbox").before(h("div#unsigned.notice.warn", { role: "alert" }, h("p", "You are not signed in any more. ",
    h("a", { href: `${root}/signin?next=${encodeURIComponent(study ? at(study) : `${root}/`)}` }, "Sign in"), "; what you typed is kept.")));
}

function connected() {
  state();
  outbox();
  if (connection.state === "live") { $("unsigned")?.remove(); flush(); } else if (connection.state === "lost") say("The connection is lost. What you type is kept.");
}

/** A page that the browser had put away is shown again: to nobody but who left it. */
async function returned(event) {
  if (!event.persisted) return;
  const before = own();
  await me(true).catch(() => {});
  if ($("unsigned") || own() !== before) location.reload();
}

/** Begin: call once in each view. */
export function begin() {
  addEventListener("connection", connected);
  addEventListener("typed", outbox);
  addEventListener("unsigned", unsigned);
  addEventListener("pageshow", returned);
  state();
  outbox();
  flush();
  worker();
}
