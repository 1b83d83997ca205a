// Search: query box, ranking, and filters; below them, the hits.

import { post } from "../api.js";
import { NO_MARKS, atStart, empty, markOf, marked, read, request, size, write } from "../search_state.js";
import { rankingSelect } from "../selects.js";
import { collection, outdated, ranking } from "../collection.js";
import { announce, button, el, isolate, link, replace } from "../dom.js";
import { counted, shortened, whole } from "../format.js";
import { go, note } from "../router.js";
import { fill, panel } from "../states.js";
import { browse } from "./browse.js";
import { queryChange } from "./feedback.js";
import { filterBar, keyed } from "./filter_bar.js";
import { hitList, places, slide } from "./hits.js";
import { startPage } from "./start.js";

export function title(params) {
  const asked = read(params);
  if (asked.like) return `Like ${shortened(asked.like, 40)}`;
  return empty(asked) ? "Search" : shortened(asked.q, 50);
}

/** Return a query with one of its words replaced. */
function corrected(query, word, other) {
  const letters = "[\\p{L}\\p{M}\\p{N}]";
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return query.replace(new RegExp(`(?<!${letters})${escaped}(?!${letters})`, "giu"), () => other);
}

export function render(container, params, { signal }) {
  let asked = read(params);
  const box = el("textarea", {
    class: "search-box", rows: "1", dir: "auto", name: "q", "aria-label": "Search for",
    placeholder: "Words, a sentence, or a whole text", enterkeyhint: "search", spellcheck: "false",
    on: { input: grow, keydown: submitOnEnter },
  });
  const tools = el("div", { class: "search-tools" });
  let drawn = null; // state of the collection when the tools were drawn
  const results = el("div", { class: "results working" });
  const refine = el("div", { class: "refine", role: "region", "aria-label": "Feedback", hidden: true });
  const form = el(
    "form",
    { class: "search-form", role: "search", on: { submit: (event) => { event.preventDefault(); submit(); } } },
    el("div", { class: "search-line" }, box,
      el("button", { class: "button primary search-go", type: "submit" }, "Search")),
    tools,
  );
  container.append(el("h1", { class: "unseen" }, "Search"), form, results, refine);
  document.addEventListener("keydown", slash, { signal });
  update(params);
  if (empty(asked) && matchMedia("(hover: hover)").matches) box.focus({ preventScroll: true });
  return update;

  async function update(next) {
    const before = asked;
    asked = read(next);
    box.value = asked.q;
    grow();
    showRefine();
    drawTools();
    const kept = before.q === asked.q && before.like === asked.like ? places(results) : null;
    if (atStart(asked)) {
      const stats = await startPage(results, { signal });
      if (stats && stats.state !== drawn) drawTools();
      return;
    }
    if (empty(asked)) {
      const listed = await browse(results, asked, { signal, remedies });
      if (listed && outdated(listed.list.state)) drawTools();
      return;
    }
    const [route, body] = request(asked);
    const found = await fill(
      results,
      async (stop) => {
        const [stats, answer] = await Promise.all([collection({ signal: stop }), post(route, body, { signal: stop })]);
        return { stats, answer };
      },
      ({ stats, answer }) => shown(stats, answer),
      { signal, remedies },
    );
    if (!found) return;
    if (outdated(found.answer.state)) drawTools(); // its filters and the number of documents
    const refined = asked.rounds.length !== before.rounds.length;
    if (kept && refined) slide(results, kept);
    if (asked.page !== before.page) scrollTo(0, 0);
    if (refined || asked.page !== before.page) results.querySelector(".results-head h2")?.focus({ preventScroll: true });
    tell(found.answer);
  }

  // What the user can change in an invalid request.
  function remedies(error) {
    if (error.field === "where" && asked.where) return [button("Remove the filter", () => change({ where: "" }), { kind: "primary" })];
    if (error.field === "ranking" && asked.ranking !== "bm25") return [button("Rank by BM25", () => change({ ranking: "bm25", threshold: null }), { kind: "primary" })];
    if (error.field === "rounds" && asked.rounds.length > 0) return [button("Remove the feedback", () => change({ rounds: [], marks: NO_MARKS }), { kind: "primary" })];
    return [];
  }

  function change(part, options) {
    return go(write({ ...asked, page: 1, why: null, ...part }), options);
  }

  // ---------------------------------------------------------------- form

  // A typed but unsent text is submitted together with a new ranking or filter.
  function adjust(part, options) {
    const q = box.value.trim();
    const typed = q !== "" && q !== asked.q.trim();
    return change(typed ? { q, syntax: "auto", like: null, rounds: [], marks: NO_MARKS, ...part } : part, options);
  }

  function submit() {
    const q = box.value.trim();
    if (q === asked.q && !asked.like && asked.rounds.length === 0) return update(new URLSearchParams(location.search));
    return change({ q, syntax: "auto", like: q ? null : asked.like, rounds: [], marks: NO_MARKS });
  }

  function submitOnEnter(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  }

  function grow() {
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 240)}px`;
  }

  function slash(event) {
    const typing = event.target.closest?.("input, textarea, select, dialog, [contenteditable]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    box.focus();
    box.select();
  }

  async function drawTools() {
    let stats;
    try {
      stats = await collection({ signal });
    } catch {
      return; // the results show the error
    }
    drawn = stats.state;
    const chosen = ranking(stats, asked.ranking);
    const select = rankingSelect(stats.rankings, asked.ranking, (name) => adjust({ ranking: name, threshold: null }),
      { "aria-label": "Ranking", "aria-describedby": "ranking-about", name: "ranking", data: { key: "ranking" } });
    const focused = tools.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const filters = filterBar(stats, asked, chosen, adjust);
    replace(
      tools,
      el("div", { class: "ranking-row" }, el("label", { class: "ranking" },
        el("span", { class: "label muted" }, "Rank by"), select),
      el("p", { class: "hint", id: "ranking-about" }, chosen.description),
      filters.opener),
      asked.like && el("div", { class: "row" }, el("span", { class: "chip like" }, "Documents similar to ",
        link(isolate(shortened(asked.like, 60)), `/document?${new URLSearchParams({ id: asked.like })}`),
        button("×", () => change({ like: null, rounds: [], marks: NO_MARKS }),
          { class: "chip-close", "aria-label": "Stop searching for similar documents" }))),
      filters.active,
      filters.body,
    );
    if (focused) keyed(tools, focused)?.focus({ preventScroll: true });
  }

  // ---------------------------------------------------------------- results

  function shown(stats, found) {
    const used = ranking(stats, found.ranking);
    if (found.hits.length === 0) return nothing(found);
    return [
      asked.rounds.length > 0 && queryChange(asked, found, {
        undo: () => change({ rounds: asked.rounds.slice(0, -1), marks: NO_MARKS }),
        over: () => change({ rounds: [], marks: NO_MARKS }),
      }),
      found.notes.map((text) => el("p", { class: "notice" }, text)),
      suggestions(found),
      conditions(found.query),
      hitList(asked, found, used, {
        signal,
        mark: (id, sign) => mark(id, sign),
        why: (id, open) => {
          asked = { ...asked, why: open ? id : asked.why === id ? null : asked.why };
          note(write(asked));
        },
      }),
      pages(stats, found),
    ];
  }

  // Links to searches with similar words of the index instead of unknown words: first the query with
  // all words replaced if there are several.
  function suggestions(found) {
    const words = Object.entries(found.suggestions).filter(([, others]) => others.length > 0);
    const all = words.reduce((query, [word, others]) => corrected(query, word, others[0]), asked.q);
    const links = [
      ...(words.length > 1 ? [[shortened(all, 60), all]] : []),
      ...words.flatMap(([word, others]) => others.map((other) => [other, corrected(asked.q, word, other)])),
    ].filter(([, query]) => query !== asked.q);
    if (links.length === 0) return null;
    return el("p", { class: "hint suggestions" }, "Did you mean ",
      links.map(([other, q], at) => [at > 0 && ", ",
        link(isolate(other), write({ ...asked, q, page: 1, why: null, rounds: [], marks: NO_MARKS }))]), "?");
  }

  // What the operators of the query require of each hit.
  function conditions(query) {
    const parts = [
      ...query.required.map((text) => ["with ", el("q", {}, isolate(text))]),
      ...query.excluded.map((text) => ["without ", el("q", {}, isolate(text))]),
      ...(query.where ? [[isolate(query.where)]] : []),
    ];
    if (parts.length === 0) return null;
    return el("p", { class: "hint conditions" }, "Only documents ",
      parts.map((part, at) => [at > 0 && ", ", part]), ". ", plainSearch());
  }

  function plainSearch() {
    return button("Search without operators", () => change({ syntax: "plain" }), { kind: "small quiet" });
  }

  function nothing(found) {
    const hints = [];
    const { required, excluded, where } = found.query;
    if (required.length + excluded.length > 0 || where) hints.push(plainSearch());
    if (asked.page > 1) hints.push(button("First page", () => change({}), { kind: "primary" }));
    if (asked.where) hints.push(button("Remove the filter", () => change({ where: "" })));
    if (asked.threshold !== null) hints.push(button("Remove the threshold", () => change({ threshold: null })));
    if (asked.rounds.length > 0) hints.push(button("Undo the last round", () => change({ rounds: asked.rounds.slice(0, -1) })));
    const text = found.notes.join(" ") || (asked.page > 1
      ? "There are no more results."
      : "No document matches. Try other words, or a ranking by meaning, such as Word Mover's Distance.");
    return [panel("Nothing found", text, hints), suggestions(found)];
  }

  function pages(stats, found) {
    const limit = stats.limits.offset ?? Infinity;
    const more = found.more && found.offset + found.k <= limit;
    if (asked.page === 1 && !more) return null;
    const to = (page) => write({ ...asked, page, why: null });
    return el("nav", { class: "pages", "aria-label": "Pages" },
      asked.page > 1 ? link("← Previous", to(asked.page - 1), { class: "button", rel: "prev" }) : el("span"),
      el("span", { class: "muted small" }, `Page ${asked.page}`),
      more ? link("Next →", to(asked.page + 1), { class: "button", rel: "next" }) : el("span"));
  }

  function tell(found) {
    announce(found.hits.length === 0 ? "Nothing found."
      : `${counted(found.hits.length, "result")}, page ${asked.page}. First: ${found.hits[0].id}.`);
  }

  // ---------------------------------------------------------------- feedback

  function mark(id, sign) {
    asked = { ...asked, marks: marked(asked.marks, id, sign) };
    note(write(asked));
    showRefine();
    if (size(asked.marks) > 0) announce(marksInWords());
    return markOf(asked.marks, id);
  }

  function marksInWords() {
    const { relevant, nonrelevant } = asked.marks;
    return `Marked: ${whole(relevant.length)} relevant, ${whole(nonrelevant.length)} not relevant.`;
  }

  function showRefine() {
    refine.hidden = size(asked.marks) === 0;
    if (refine.hidden) return;
    replace(refine,
      el("p", {}, marksInWords()),
      el("div", { class: "row" },
        button("Clear", () => change({ marks: NO_MARKS, page: asked.page, why: asked.why }, { replace: true }), { kind: "quiet" }),
        button("Refine", () => change({ rounds: [...asked.rounds, asked.marks], marks: NO_MARKS }), { kind: "primary" })));
  }
}
