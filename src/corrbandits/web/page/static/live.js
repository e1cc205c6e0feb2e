// What others do, as it happens; and whether the connection stands.

import { here, root } from "./api.js";
import { me } from "./person.js";

export const connection = { state: "connecting", since: Date.now() };

function become(state) {
  if (state === connection.state) return;
  Object.assign(connection, { state, since: Date.now() });
  dispatchEvent(new CustomEvent("connection"));
}

let source = null;
let retry = null;
let wait = 1;
let beat = Date.now();
let last = null;
let absent = false; // there is no such study: the server answers, and nothing can be heard

addEventListener("unsigned", () => become("unsigned"));
addEventListener("absent", () => {
  absent = true;
  clearTimeout(retry);
  source?.close();
  become("absent");
});

/** Call `changed(sequence)` when the study has changed, also while we were away. */
export function follow(changed) {
  const tell = async (sequence) => {
    try { await changed(sequence); } catch (error) { if (!error.lost) throw error; } // it is tried again when there is a connection
  };
  const begin = () => {
    clearTimeout(retry);
    source?.close();
    if (absent) return;
    source = new EventSource(`${root}/api/v1${here("/live")}`);
    source.onopen = () => { wait = 1; beat = Date.now(); become("live"); };
    const heard = (event) => {
      beat = Date.now();
      become("live");
      const { sequence = null } = event.data ? JSON.parse(event.data) : {};
      if (sequence !== null && sequence !== last) tell((last = sequence));
    };
    source.addEventListener("changed", heard);
    source.addEventListener("beat", () => { beat = Date.now(); });
    source.onerror = () => {
      if (absent) return;
      if (connection.state !== "unsigned") become("lost");
      me(true).catch(() => {}); // who is signed in no longer is told so
      source.close();
      wait = Math.min(wait * 2, 20);
      retry = setTimeout(begin, 500 * wait * (0.75 + Math.random() / 2));
    };
  };
  begin();
  setInterval(() => { if (!document.hidden && connection.state === "live") tell(last); }, 30_000); // some proxies hold streams back
  addEventListener("online", () => { wait = 1; begin(); });
  addEventListener("offline", () => { if (!absent) become("lost"); });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && (connection.state !== "live" || Date.now() - beat > 60_000)) { wait = 1; begin(); }
  });
}

/** That a call was not answered: the same news, so look for the server anew. */
export const heard = (error) => { if (error.status === 0) source?.onerror(); };
