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
  return Promise.race([asked, new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")));
  })]);
}

export function forget() {
  asked = null;
}

function shown(stats) {
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
