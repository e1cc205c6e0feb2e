// Signing in: by a link, whose token stands after the # and so never reaches a server's log, or by typing it.

import { Trouble, post, root } from "./api.js";
import { $, h, show } from "./dom.js";

/** Where to go then: to a place of ours. A browser reads the address as it will when it goes there. */
function next() {
  try {
    const { href } = new URL(new URLSearchParams(location.search).get("next") ?? `${root}/`, location.origin);
    if (href.startsWith(`${location.origin}/`)) return href;
  } catch { /* no address */ }
  return `${root}/`;
}

async function enter(token) {
  try {
    await post("/session", { token });
    location.replace(next());
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    show($("answer"), h("p.bad", error.message));
    $("token").focus();
  }
}

globalThis.caches?.delete("seen"); // whoever comes here sees nothing of who was here before
const given = location.hash.slice(1);
if (given) {
  history.replaceState(null, "", location.pathname + location.search);
  enter(given);
}
$("signin").addEventListener("submit", (event) => { event.preventDefault(); enter($("token").value.trim()); });
