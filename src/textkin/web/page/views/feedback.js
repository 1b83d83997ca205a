// Effect of feedback on the query: its words with their weights, before and after.

import { size } from "../search_state.js";
import { button, el, freshId, replace } from "../dom.js";
import { counted, score } from "../format.js";

const FIRST = 12;

/** The panel above the hits of a query after feedback. */
export function queryChange(asked, found, { undo, over }) {
  const last = asked.rounds.at(-1);
  const count = asked.rounds.length;
  const words = changes(found.before.words, found.query.words);
  const heading = freshId("change");
  return el(
    "section",
    { class: "change panel", "aria-labelledby": heading },
    el("div", { class: "row spread" },
      el("h2", { id: heading }, count === 1 ? "The query after feedback" : `The query after ${count} rounds of feedback`),
      el("div", { class: "row" },
        button(count === 1 ? "Undo" : "Undo this round", undo, { kind: "small" }),
        count > 1 && button("Start over", over, { kind: "small quiet" }))),
    el("p", { class: "hint" }, `${rounded(last)} Arrows next to the results show their changes of rank.`),
    words ? wordList(words) : el("p", { class: "hint" },
      "This ranking compares vectors instead of words, so there are no word weights to show."),
  );
}

function rounded(marks) {
  const parts = [];
  if (marks.relevant.length > 0) parts.push(`toward ${counted(marks.relevant.length, "relevant document")}`);
  if (marks.nonrelevant.length > 0) parts.push(`away from ${counted(marks.nonrelevant.length, "document")} marked not relevant`);
  return size(marks) > 0 ? `The query moved ${parts.join(" and ")}.` : "";
}

/** Words with their weights before and after, in descending order of weight; null without words. */
export function changes(before, after) {
  if (!before || !after) return null;
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...names]
    .map((word) => ({ word, before: before[word] ?? 0, after: after[word] ?? 0 }))
    .sort((a, b) => b.after - a.after || b.before - a.before);
}

function wordList(words) {
  const most = Math.max(...words.map((one) => Math.max(one.before, one.after)), Number.MIN_VALUE);
  const list = el("ul", { class: "change-words" });
  const more = button("", () => draw(words.length), { kind: "small quiet" });
  draw(FIRST);
  return [list, more];

  function draw(limit) {
    replace(list, words.slice(0, limit).map((one) => row(one, most)));
    more.hidden = words.length <= limit;
    more.textContent = `All ${words.length} words`;
  }
}

function row({ word, before, after }, most) {
  const kind = before === 0 ? "new" : after === 0 ? "gone" : after > before ? "up" : after < before ? "down" : "same";
  const said = { new: "new", gone: "removed", up: "higher weight", down: "lower weight", same: "unchanged" }[kind];
  return el("li", { class: `change-word ${kind}` },
    el("bdi", { class: "change-name" }, word),
    el("span", { class: "change-bars", "aria-hidden": "true" }, bar("was", before / most), bar("is", after / most)),
    el("span", { class: "change-figures" },
      kind === "new" || kind === "same" ? score(after) : `${score(before)} → ${score(after)}`,
      el("span", { class: "change-said" }, said)));
}

function bar(name, share) {
  const element = el("span", { class: share > 0 ? name : null });
  element.style.inlineSize = `${100 * share}%`;
  return element;
}
