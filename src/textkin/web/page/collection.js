// Facts about the collection: requested once, and again after a change.

import { get } from "./api.js";
import { counted } from "./format.js";

let asked = null;

/** Return the response of /stats; cached until `forget`. */
export function collection({ signal } = {}) {
  if (!asked) {
    // Shared by all views, so that leaving a view does not cancel the request.
    asked = get("/stats").then(shown);
    asked.catch(() => { asked = null; });
  }
  if (!signal) return asked;
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DOMException("given up", "AbortError"));
    signal.addEventListener("abort", stop, { once: true });
    asked.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

export function forget() {
  asked = null;
}

let present = null;

/** Return true if the collection has changed, given the state in a response. */
export function outdated(state) {
  if (present === null || state === present) return false;
  present = null; // until the new numbers arrive
  forget();
  return true;
}

function shown(stats) {
  present = stats.state;
  const place = document.getElementById("collection");
  place.textContent = `${stats.title} · ${counted(stats.documents, "document")}`;
  place.title = place.textContent;
  document.getElementById("add-link").hidden = !stats.writable;
  return stats;
}

/** Return the ranking with a name from /stats; an unknown name is its own title. */
export function ranking(stats, name) {
  return stats.rankings.find((one) => one.name === name)
    ?? { name, title: name, kind: "words", ascending: false, description: "" };
}
