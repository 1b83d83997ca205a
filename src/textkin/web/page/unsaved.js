// Unsaved data of a form: the router asks before leaving, and the browser before unloading.

import { confirmed } from "./token.js";

let form = null; // { element, lost }: the last opened form

/** Register a form: `lost` returns a description of its unsaved data, or "", while it is in the page. */
export function guard(element, lost) {
  form = { element, lost };
  addEventListener("beforeunload", unloading); // the same function is registered only once
}

/** Return the description of unsaved data; "" for none. */
export function losing() {
  return form?.element.isConnected ? form.lost() : "";
}

/** Ask whether unsaved data may be discarded; if so, discard it. */
export async function leaving() {
  const sure = await confirmed("Leave without saving?", losing(), "Leave", "Stay");
  if (sure) form = null;
  return sure;
}

function unloading(event) {
  if (losing()) event.preventDefault();
}
