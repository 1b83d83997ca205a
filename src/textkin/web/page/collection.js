// What the collection is: asked once, and again when it has changed.

import { get } from "./api.js";
import { counted } from "./format.js";

let asked = null;

/** The answer of /stats; kept until `forget`. */
export function collection({ signal } = {}) {
  if (!asked) {
    // Shared by all views, so that a view that is left does not take the request with it.
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

/** Told the state of an answer: whether the collection has changed since it was asked about. */
export function outdated(state) {
  if (present === null || state === present) return false;
  present = null; // until the new numbers are there
  forget();
  return true;
}

function shown(stats) {
  present = stats.state;
  const place = document.getElementById("collection");
  place.textContent = `${stats.title} · ${counted(stats.documents, "document")}`;
  place.title = place.textContent;
  return stats;
}

/** The ranking of a name, from /stats; a name that is not there is described by itself. */
export function ranking(stats, name) {
  return stats.rankings.find((one) => one.name === name)
    ?? { name, title: name, kind: "words", ascending: false, description: "" };
}
