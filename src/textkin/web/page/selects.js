// Select for rankings, shared by all views.

import { el } from "./dom.js";

const KINDS = {
  words: "Words",
  transport: "Word Mover's Distance and bounds",
  model: "Models",
  hybrid: "Combined rankings",
};

/**
 * A select of rankings, grouped by kind. `rankings` as in /stats; calls `change(name)`.
 */
export function rankingSelect(rankings, chosen, change, options = {}) {
  const select = el("select", { class: "select", ...options, on: { change: () => change(select.value) } });
  for (const [kind, label] of Object.entries(KINDS)) {
    const members = rankings.filter((one) => one.kind === kind);
    if (members.length === 0) continue;
    select.append(el("optgroup", { label }, members.map((one) =>
      el("option", { value: one.name, selected: one.name === chosen },
        one.takes_text ? one.title : `${one.title} (documents only)`))));
  }
  if (!rankings.some((one) => one.name === chosen)) {
    select.prepend(el("option", { value: chosen, selected: true }, chosen));
  }
  return select;
}
