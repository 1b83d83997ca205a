// Unknown URL: the path, a suggestion, and links.

import { el, isolate, link, replace } from "../dom.js";
import { shortened } from "../format.js";
import { go } from "../router.js";

export const title = "Not found";

const NAMES = {
  "/compare": "Compare two texts",
  "/neighbors": "Neighbors of a document",
  "/map": "The map",
  "/clusters": "Clusters",
  "/topics": "Topics",
  "/add": "Add documents",
};

export function render(container) {
  const path = readable(location.pathname);
  const meant = meantBy(location.pathname);
  const words = path.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  const box = el("input", { class: "input", type: "search", name: "q", dir: "auto", "aria-label": "Search the collection", autocomplete: "off", props: { value: shortened(words, 200) } });
  const form = el("form", { class: "missing-search", role: "search", on: { submit: (event) => {
    event.preventDefault();
    const asked = box.value.trim();
    go(asked ? `/?${new URLSearchParams({ q: asked })}` : "/");
  } } }, box, el("button", { class: "button primary", type: "submit" }, "Search"));
  replace(container, el("section", { class: "missing" },
    el("p", { class: "missing-code", "aria-hidden": "true" }, "404"),
    el("h1", {}, "Page not found"),
    el("p", { class: "muted" }, "Unknown path: ", isolate(shortened(path, 120), { class: "mono" }), "."),
    meant && el("p", {}, "Did you mean ", link(NAMES[meant], meant + location.search), "?"),
    form,
    el("p", { class: "hint" }, "Or go to ", link("the start page", "/"), ", ", link("the map", "/map"), " or ",
      link("the HTTP API", "/docs"), ".")));
}

// "/Map/", "/maps", and "/compare/x" are similar to a valid path.
function meantBy(path) {
  const first = path.toLowerCase().split("/").find(Boolean) ?? "";
  return Object.keys(NAMES).find((name) => first.startsWith(name.slice(1))) ?? null;
}

function readable(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // an incomplete percent escape
  }
}
