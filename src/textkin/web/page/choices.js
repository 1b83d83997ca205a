// Choosing a ranking, the same way everywhere.

import { el } from "./dom.js";

const KINDS = {
  words: "By words",
  transport: "By transport of words",
  model: "By a model",
  hybrid: "Several together",
};

/**
 * A select of rankings, grouped by kind. `rankings` as in /stats; `change(name)` is called.
 */
export function rankingSelect(rankings, chosen, change, options = {}) {
  const select = el("select", { class: "select", ...options, on: { change: () => change(select.value) } });
  for (const [kind, label] of Object.entries(KINDS)) {
    const members = rankings.filter((one) => one.kind === kind);
    if (members.length === 0) continue;
    select.append(el("optgroup", { label }, members.map((one) =>
      el("option", { value: one.name, selected: one.name === chosen }, one.title))));
  }
  if (!rankings.some((one) => one.name === chosen)) {
    select.prepend(el("option", { value: chosen, selected: true }, chosen));
  }
  return select;
}
