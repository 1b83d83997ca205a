// List of documents without a query: all documents, or those of a filter, page by page.

import { get } from "../api.js";
import { write } from "../search_state.js";
import { collection } from "../collection.js";
import { el, isolate, link } from "../dom.js";
import { counted, nameOf, shortened, value, whole } from "../format.js";
import { address } from "../router.js";
import { fill, panel } from "../states.js";

const PAGE = 20;

export function browse(results, asked, { signal, remedies }) {
  asked = { ...asked, all: true }; // links to other pages stay in the list
  const params = { offset: (asked.page - 1) * PAGE, limit: PAGE, where: asked.where };
  return fill(
    results,
    async (stop) => {
      const [stats, list] = await Promise.all([collection({ signal: stop }), get("/documents", params, { signal: stop })]);
      return { stats, list };
    },
    ({ stats, list }) => shown(stats, list, asked),
    { signal, remedies },
  );
}

/** The panel of a collection without documents. */
export function emptyCollection(stats) {
  return panel("Empty collection", stats.writable
    ? "Add documents to search them."
    : "This collection has no documents, and the server is read-only. Restart it with a token to add documents here, or run textkin index add.",
  stats.writable ? [link("Add documents", "/add", { class: "button primary" })] : []);
}

function shown(stats, list, asked) {
  if (stats.documents === 0) return emptyCollection(stats);
  const notes = list.notes.map((text) => el("p", { class: "notice" }, text));
  if (list.documents.length === 0 && asked.page > 1) {
    return [notes, panel("No more documents", "", [link("First page", write({ ...asked, page: 1 }), { class: "button primary" })])];
  }
  if (list.documents.length === 0) {
    return [notes, panel("No document matches the filter", "", [
      link("Remove the filter", write({ ...asked, where: "", page: 1 }), { class: "button primary" })])];
  }
  const from = (asked.page - 1) * PAGE;
  const of = asked.where ? "that match the filter" : "in the order of insertion";
  return [
    notes,
    el("div", { class: "row spread results-head" },
      el("h2", {}, asked.where ? counted(list.total, "document") : "Documents"),
      el("p", { class: "hint" }, `${whole(from + 1)}–${whole(from + list.documents.length)} of ${whole(list.total)}, ${of}`)),
    el("ol", { class: "listed", start: from + 1 }, list.documents.map(listed)),
    pages(list, asked, from),
  ];
}

function listed(one) {
  return el("li", { class: "listed-one" },
    el("div", { class: "listed-head" },
      link(isolate(shortened(nameOf(one.id, one.metadata), 100)), address("/document", { id: one.id })),
      one.label !== null && el("span", { class: "chip hit-label" }, isolate(shortened(value(one.label), 40))),
      link("Similar", address("/", { like: one.id }), { class: "listed-similar" })),
    el("p", { class: "listed-start", dir: "auto" }, one.start || el("span", { class: "muted" }, "No text.")));
}

function pages(list, asked, from) {
  const more = from + list.documents.length < list.total;
  if (asked.page === 1 && !more) return null;
  return el("nav", { class: "pages", "aria-label": "Pages" },
    asked.page > 1 ? link("← Previous", write({ ...asked, page: asked.page - 1 }), { class: "button", rel: "prev" }) : el("span"),
    el("span", { class: "muted small" }, `Page ${whole(asked.page)} of ${whole(Math.ceil(list.total / PAGE))}`),
    more ? link("Next →", write({ ...asked, page: asked.page + 1 }), { class: "button", rel: "next" }) : el("span"));
}
