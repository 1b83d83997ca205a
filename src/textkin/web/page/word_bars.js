// Words with bars of the length of their weights.

import { el, isolate } from "./dom.js";
import { score } from "./format.js";

/** words: [{word, weight}], in descending order of weight. */
export function wordBars(words, color = null) {
  const most = Math.max(...words.map((one) => one.weight), Number.MIN_VALUE);
  return el("ul", { class: "word-bars", "aria-label": "Words" }, words.map(({ word, weight }) => {
    const bar = el("span", { class: color === null ? "word-bar" : `word-bar bar-${color}`, "aria-hidden": "true" });
    bar.style.inlineSize = `${Math.max(2, (100 * weight) / most)}%`;
    return el("li", { title: score(weight) }, isolate(word, { class: "word-name" }), el("span", { class: "word-room" }, bar));
  }));
}
