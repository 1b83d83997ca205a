// One document: its text, its metadata, and links.

import { get, post, put, remove } from "../api.js";
import { collection, forget } from "../collection.js";
import { announce, button, el, isolate, link, replace } from "../dom.js";
import { word } from "../filters.js";
import { counted, nameOf, shortened, value, whole } from "../format.js";
import { address, go } from "../router.js";
import { failed, fill, panel } from "../states.js";
import { confirmed, withToken } from "../token.js";
import { editor } from "./editor.js";

const NEAR_BY = "tfidf";

export function title(params) {
  return shortened(params.get("id") ?? "Document", 50);
}

export function render(container, params, { signal }) {
  const id = params.get("id");
  if (!id) {
    container.append(panel("Document required", "The URL has no document ID.", [link("Search", "/", { class: "button primary" })]));
    return;
  }
  load();

  function load() {
    return fill(
      container,
      async (stop) => {
        const [stats, document] = await Promise.all([collection({ signal: stop }), get("/document", { id }, { signal: stop })]);
        return { stats, document };
      },
      ({ stats, document }) => shown(stats, document),
      { signal, fresh: true },
    );
  }

  function shown(stats, document) {
    const messages = el("div", { "aria-live": "polite" });
    const head = nameOf(id, document.metadata);
    return [
      el("article", { class: "document" },
        el("header", { class: "document-head" },
          el("h1", {}, isolate(shortened(head, 300))),
          el("p", { class: "row hint" },
            head !== id && isolate(shortened(id, 300), { class: "mono" }),
            document.label !== null && link(el("span", {}, "label ", isolate(value(document.label))), address("/", { where: `label = ${word(document.label)}` }), { class: "chip" }),
            el("span", {}, counted(document.words, "word")),
            el("span", {}, counted([...document.text].length, "character"))),
          el("div", { class: "row document-actions" },
            link("Similar documents", address("/", { like: id }), { class: "button primary" }),
            link("Neighbors by two measures", address("/neighbors", { id }), { class: "button" }),
            link("Compare with a text", address("/compare", { a_id: id }), { class: "button" }),
            stats.writable && el("span", { class: "row document-write" },
              button("Edit", () => edit(stats, document), { kind: "quiet document-edit" }),
              button("Delete", () => erase(messages), { kind: "quiet danger-quiet" }))),
          messages),
        el("div", { class: "document-body" },
          document.text.trim()
            ? el("div", { class: "document-text", dir: "auto" }, document.text)
            : el("p", { class: "muted" }, "This document has no text."),
          el("div", { class: "document-side" }, facts(document.metadata), near()))),
    ];
  }

  // Similar documents; the text is shown before them, and stays if the search fails.
  function near() {
    const list = el("div", { class: "working" });
    fill(list, (stop) => post("/similar", { id, ranking: NEAR_BY, k: 6 }, { signal: stop }),
      (found) => (found.hits.length === 0
        ? el("p", { class: "hint" }, "No other document shares a word with this one.")
        : el("ol", {}, found.hits.map((hit) => el("li", { class: "near-one" },
          link(isolate(shortened(nameOf(hit.id, hit.metadata), 60)), address("/document", { id: hit.id })),
          el("p", { dir: "auto" }, shortened(hit.snippet.map((piece) => piece.text).join(""), 110)))))),
      { signal, lines: 6 });
    return el("section", { "aria-label": "Similar documents" }, el("h2", {}, "Similar documents (TF-IDF)"), list);
  }

  function edit(stats, document) {
    const form = editor(stats, document, {
      save: async (content) => {
        const answer = await withToken((token) => put("/document", { id }, content, { token }));
        if (answer) {
          forget();
          await load();
          toEdit();
          announce("Saved.");
        }
      },
      cancel: () => {
        replace(container, shown(stats, document));
        toEdit();
      },
    });
    replace(container, form);
    form.querySelector("textarea").focus();
  }

  // The form is closed, so the focus returns to the button that opened it.
  function toEdit() {
    container.querySelector(".document-edit")?.focus({ preventScroll: true });
  }

  async function erase(messages) {
    const sure = await confirmed("Delete this document?", `${shortened(id, 80)} will be permanently deleted from the collection.`, "Delete");
    if (!sure) return;
    try {
      const answer = await withToken((token) => remove("/document", { id }, { token }));
      if (!answer) return;
      forget();
      await go("/");
      announce("Deleted.");
    } catch (error) {
      replace(messages, failed(error));
    }
  }
}

function facts(metadata) {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return null;
  return el("section", { class: "document-facts", "aria-label": "Metadata" },
    el("h2", {}, "Metadata"),
    el("dl", {}, entries.map(([name, content]) => [
      el("dt", {}, isolate(name)),
      el("dd", { dir: "auto" }, typeof content === "number" ? plain(content) : value(content)),
    ])));
}

// Years are not amounts: only large numbers get separators.
function plain(number) {
  return Number.isInteger(number) && Math.abs(number) >= 100000 ? whole(number) : String(number);
}
