// Who you are, for others to see; and signing out.

import { Trouble, post, root, signature } from "./api.js";
import { $, button, h, show } from "./dom.js";
import { own } from "./person.js";

/** Who is signed in, or a field for a name; `named` is called when another was given. */
export const naming = (person, named) => (person.signed_in ? h("p", `Signed in as ${person.name}. `, button("Sign out", leave, ".plain"), h("span#leaving", { role: "alert" })) : form(named));

async function leave() {
  try {
    await post("/session", null, { method: "DELETE" });
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    show($("leaving"), h("span.bad", `You are still signed in. ${error.message} Sign out when there is one.`));
    return;
  }
  $("main").replaceChildren(); // Back shows nothing of who was here
  await globalThis.caches?.delete("seen");
  location.replace(`${root}/signin`);
}

function form(named) {
  const input = h("input", { id: "name", autocomplete: "name", maxlength: 60, value: signature() });
  return h("details", h("summary", own() ? `You are ${own()}` : "Say who you are"), h("form", { onsubmit: (event) => {
    event.preventDefault();
    localStorage.setItem("name", input.value.trim());
    event.target.closest("details").open = false;
    named();
  } }, h("label", { for: "name" }, "Your name, so that others see who measured"), h("span.row", input, h("button", { type: "submit" }, "Keep"))));
}
