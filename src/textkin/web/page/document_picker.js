// Document picker: a search box, and the first hits to choose from.

import { aborted, get, post } from "./api.js";
import { announce, debounced, el, isolate, replace } from "./dom.js";
import { counted, shortened } from "./format.js";

const SHOWN = 8;

/** Return the name of a document: its title, or its ID. */
export function nameOf(document) {
  const title = document.metadata?.title;
  return typeof title === "string" && title.trim() ? shortened(title, 120) : document.id;
}

/** Return the start of a document on one line. */
export function line(document) {
  const text = document.start ?? document.snippet?.map((piece) => piece.text).join("") ?? "";
  return shortened(text, 110) || document.id;
}

/** Calls `pick(id)`. Without a search, offers the first documents. */
export function documentPicker(pick, { signal, label = "Find a document" }) {
  const box = el("input", { class: "input", type: "search", placeholder: label, "aria-label": label, autocomplete: "off", dir: "auto" });
  const list = el("ul", { class: "picker-list" });
  let asking = new AbortController();
  const look = async () => {
    asking.abort();
    asking = new AbortController();
    const stop = AbortSignal.any([signal, asking.signal]);
    const query = box.value.trim();
    try {
      const found = query
        ? (await post("/search", { query, ranking: "bm25", k: SHOWN }, { signal: stop })).hits
        : (await get("/documents", { limit: SHOWN }, { signal: stop })).documents;
      replace(list, found.map(entry), found.length === 0 && el("li", { class: "hint" }, "No documents found."));
      if (query) announce(`${counted(found.length, "document")} found`);
    } catch (error) {
      if (!aborted(error)) replace(list, el("li", { class: "hint" }, error.message));
    }
  };
  const entry = (found) => el("li", {}, el(
    "button",
    { type: "button", class: "picker-entry", on: { click: () => pick(found.id) } },
    isolate(line(found), { dir: "auto" }),
    el("span", { class: "picker-id mono" }, found.id),
  ));
  box.addEventListener("input", debounced(look, 200));
  look();
  return el("div", { class: "picker" }, box, list);
}
