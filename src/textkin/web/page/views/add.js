// Adding documents: dropped or chosen files, or a pasted text.

import { ApiError, aborted } from "../api.js";
import { send } from "../batches.js";
import { collection, forget } from "../collection.js";
import { announce, button, el, isolate, link, replace } from "../dom.js";
import { documentsOf, pasted, readFile, usual } from "../files.js";
import { counted, shortened, value, whole } from "../format.js";
import { address } from "../router.js";
import { failed, fill, panel } from "../states.js";
import { withToken } from "../token.js";
import { guard } from "../unsaved.js";

export const title = "Add documents";

const PREVIEW = 5;
const PROBLEMS = 6;

export function render(container, params, { signal }) {
  fill(container, () => collection({ signal }), (stats) => (stats.writable ? adder(stats, signal) : readOnly()), { signal, fresh: true });
}

function readOnly() {
  return [el("h1", {}, "Add documents"), panel("This collection is read-only",
    "The server was started without a token, so it is read-only. To add documents here, restart it with a token (textkin serve INDEX --token-file FILE), or run textkin index add on the command line.",
    [link("Search", "/", { class: "button primary" })])];
}

function adder(stats, signal) {
  let sources = [];
  let taken = 0;
  let adding = false;
  const staged = el("div", { class: "stack", "aria-live": "polite" });
  const input = el("input", {
    type: "file", class: "unseen", multiple: true, accept: ".txt,.md,.jsonl,.ndjson,.csv,.tsv", id: "add-files",
    on: { change: () => { take([...input.files]); input.value = ""; } },
  });
  const zone = el("div", { class: "drop" },
    el("p", { class: "drop-line" }, "Drop files here, or ",
      el("label", { class: "button", for: "add-files" }, "Choose files"), input),
    el("p", { class: "hint" }, ".txt: one document per file. .jsonl and .csv: one document per record; the fields text, id, and label keep their meaning, all other fields become metadata. Files are read in the browser."));
  const paste = el("textarea", { class: "textarea", rows: "6", dir: "auto", name: "paste", placeholder: "Paste or write a text" });
  const label = el("input", { class: "input", name: "label", dir: "auto", autocomplete: "off" });
  const name = el("input", { class: "input", name: "id", dir: "auto", autocomplete: "off", placeholder: "optional" });
  const as = el("select", { class: "select", name: "as", on: { change: () => { name.disabled = as.value !== "one"; } } },
    el("option", { value: "one" }, "One document"),
    el("option", { value: "paragraphs" }, "One document per paragraph"),
    el("option", { value: "lines" }, "One document per line"));
  // A file dropped outside the frame is accepted too; otherwise, the browser would open it.
  for (const [event, listener] of [["dragover", over], ["dragleave", out], ["drop", dropped]]) {
    addEventListener(event, listener, { signal });
  }
  guard(staged, () => {
    if (adding) return "Documents are being added; the documents not sent yet would be lost.";
    return sources.length > 0 || paste.value.trim() ? "The files or text have not been added yet." : "";
  });
  return [
    el("h1", {}, "Add documents"),
    el("div", { class: "add" }, zone,
      el("form", { class: "panel paste stack", on: { submit: (event) => { event.preventDefault(); takeText(); } } },
        el("label", { class: "field" }, el("span", { class: "label" }, "Or paste a text"), paste),
        el("div", { class: "paste-fields" },
          el("label", { class: "field" }, el("span", { class: "label" }, "Add as"), as),
          el("label", { class: "field" }, el("span", { class: "label" }, "ID"), name),
          el("label", { class: "field" }, el("span", { class: "label" }, "Label"), label)),
        el("div", { class: "row" }, el("button", { class: "button", type: "submit" }, "Preview")))),
    staged,
  ];

  // ---------------------------------------------------------------- input

  function over(event) {
    // a dropped text goes to the text field
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    zone.classList.add("over");
  }

  function out() {
    zone.classList.remove("over");
  }

  function dropped(event) {
    out();
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    take([...event.dataTransfer.files]);
  }

  async function take(files) {
    taken += 1;
    const turn = taken;
    const read = await Promise.allSettled(files.map(readFile));
    if (turn !== taken) return; // other files were dropped in the meantime
    sources = read.filter((one) => one.status === "fulfilled").map(({ value: source }) => withFields(source));
    stage(read.filter((one) => one.status === "rejected").map((one) => one.reason.message));
  }

  function takeText() {
    const source = pasted(paste.value, as.value);
    if (source.rows.length === 0) {
      replace(staged, el("p", { class: "notice wrong" }, "Enter a text first."));
      paste.focus();
      return;
    }
    sources = [{ ...withFields(source), id: as.value === "one" ? name.value.trim() : "", label: label.value.trim() }];
    stage([]);
  }

  function withFields(source) {
    const fields = { text: usual(source, "text"), id: usual(source, "id"), label: usual(source, "label") };
    return { ...source, fields };
  }

  // ---------------------------------------------------------------- preview

  function stage(unread) {
    const documents = [];
    const problems = [...unread];
    for (const source of sources) {
      const found = documentsOf(source, source.fields);
      for (const document of found.documents) documents.push(named(document, source));
      problems.push(...found.problems);
    }
    problems.push(...tooLong(documents, stats.limits.text ?? Infinity));
    const doubled = twice(documents);
    if (doubled) problems.unshift(`IDs must be unique; two of these documents have the ID ${shortened(doubled, 60)}, and the server would reject them.`);
    replace(staged, el("section", { class: "staged panel stack", "aria-label": "Documents to add" },
      el("h2", {}, documents.length > 0 ? `${counted(documents.length, "document")} to add` : "Nothing to add"),
      sources.filter((source) => source.columns.length > 0).map(columns),
      problems.length > 0 && problemList(problems),
      documents.length > 0 && preview(documents),
      el("div", { class: "row" },
        documents.length > 0 && button(`Add ${counted(documents.length, "document")}`, () => add(documents), { kind: "primary" }),
        button("Clear", clear, { kind: "quiet" }))));
    staged.scrollIntoView({ block: "nearest" });
  }

  function named(document, source) {
    const made = { ...document };
    if (source.id) made.id = source.id;
    if (source.label) made.label = source.label;
    return made;
  }

  function columns(source) {
    return el("div", { class: "paste-fields" }, ["text", "id", "label"].map((what) => {
      const select = el("select", { class: "select", on: { change: () => { source.fields[what] = select.value; stage([]); } } },
        el("option", { value: "" }, what === "text" ? "choose a column" : "none"),
        source.columns.map((column) => el("option", { value: column, selected: source.fields[what] === column }, column)));
      return el("label", { class: "field" }, el("span", { class: "label" }, `${what} of `, isolate(shortened(source.name, 40))), select);
    }));
  }

  function clear() {
    sources = [];
    replace(staged);
  }

  // ---------------------------------------------------------------- sending

  async function add(documents, replaceThem = false) {
    const bar = el("progress", { class: "progress", max: documents.length, value: 0, "aria-label": "Documents added" });
    const line = el("p", { class: "small muted" }, "Adding…");
    let done = 0;
    adding = true;
    replace(staged, el("section", { class: "panel staged stack" }, el("h2", {}, `Adding ${counted(documents.length, "document")}`), bar, line));
    try {
      const ids = await withToken((token) => send(documents, stats.limits, {
        token, replace: replaceThem, signal,
        progress: (count) => {
          done = count;
          bar.value = count;
          line.textContent = `${whole(count)} of ${whole(documents.length)}`;
        },
      }));
      if (ids === undefined) stage([]);
      else added(ids);
    } catch (error) {
      if (aborted(error)) return;
      if (!(error instanceof ApiError)) throw error;
      refused(error, documents.slice(done), done, replaceThem);
    } finally {
      adding = false;
      if (done > 0) forget();
    }
  }

  function added(ids) {
    // a text next to files is still to be added
    if (sources.some((source) => source.name === null)) {
      paste.value = "";
      name.value = "";
    }
    sources = [];
    const text = `${counted(ids.length, "document")} added.`;
    announce(text);
    replace(staged, panel(text, "Searches find them from now on.", [
      ids.length === 1
        ? link("Show the document", address("/document", { id: ids[0] }), { class: "button primary" })
        : link("Show the first document", address("/document", { id: ids[0] }), { class: "button primary" }),
      link("Search", "/", { class: "button" })]));
  }

  function refused(error, left, done, replaceThem) {
    const actions = [button("Try again", () => add(left, replaceThem), { kind: "primary" })];
    if (error.code === "conflict" && left.every((document) => document.id)) {
      actions.push(button("Replace existing documents", () => add(left, true), { kind: "danger" }));
    }
    actions.push(button("Clear", clear, { kind: "quiet" }));
    const so_far = done > 0 && el("p", { class: "notice" }, `${counted(done, "document")} added before the error; ${counted(left.length, "document")} left.`);
    replace(staged, so_far, failed(error, null, actions));
  }
}

function tooLong(documents, limit) {
  return documents.filter((document) => document.text.length > limit)
    .map((document) => `${shortened(document.id ?? "The text", 60)} has ${counted(document.text.length, "character")}; the server accepts at most ${whole(limit)}.`);
}

function twice(documents) {
  const seen = new Set();
  for (const { id } of documents) {
    if (id !== undefined && seen.has(id)) return id;
    seen.add(id);
  }
  return null;
}

function problemList(problems) {
  return el("div", { class: "notice wrong" },
    el("p", {}, problems.length === 1 ? "One record is invalid:" : `${whole(problems.length)} records are invalid:`),
    el("ul", { class: "problems" }, problems.slice(0, PROBLEMS).map((text) => el("li", {}, isolate(shortened(text, 240)))),
      problems.length > PROBLEMS && el("li", {}, `and ${whole(problems.length - PROBLEMS)} more`)));
}

function preview(documents) {
  return el("div", { class: "scrolls" }, el("table", { class: "table" },
    el("thead", {}, el("tr", {}, ["ID", "Label", "Text"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, documents.slice(0, PREVIEW).map((document) => el("tr", {},
      el("td", {}, document.id ? isolate(shortened(document.id, 40)) : el("span", { class: "muted" }, "a number")),
      el("td", {}, document.label === null || document.label === undefined ? el("span", { class: "muted" }, "–") : isolate(shortened(value(document.label), 30))),
      el("td", { dir: "auto" }, shortened(document.text, 120)))),
    documents.length > PREVIEW && el("tr", {}, el("td", { colspan: 3, class: "muted" }, `and ${whole(documents.length - PREVIEW)} more`)))));
}
