// What would be lost by leaving a form: the router asks before it leaves, the browser before it unloads.

import { confirmed } from "./token.js";

let form = null; // { element, lost }: the last form that was opened

/** A form says what leaving it would lose, "" for nothing; it is asked while its element is in the page. */
export function guard(element, lost) {
  form = { element, lost };
  addEventListener("beforeunload", unloading); // no second time: it is the same function
}

/** What would be lost by leaving now; "" for nothing. */
export function losing() {
  return form?.element.isConnected ? form.lost() : "";
}

/** Ask whether what is unsaved may be lost; from then on it may. */
export async function leaving() {
  const sure = await confirmed("Leave without saving?", losing(), "Leave", "Stay");
  if (sure) form = null;
  return sure;
}

function unloading(event) {
  if (losing()) event.preventDefault();
}
