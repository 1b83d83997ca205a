// Words with bars as long as their weights.

import { el, isolate } from "./dom.js";
import { score } from "./format.js";

/** words: [{word, weight}], the heaviest first. */
export function wordBars(words, colour = null) {
  const most = Math.max(...words.map((one) => one.weight), Number.MIN_VALUE);
  return el("ul", { class: "word-bars", "aria-label": "Words" }, words.map(({ word, weight }) => {
    const bar = el("span", { class: colour === null ? "word-bar" : `word-bar bar-${colour}`, "aria-hidden": "true" });
    bar.style.inlineSize = `${Math.max(2, (100 * weight) / most)}%`;
    return el("li", { title: score(weight) }, isolate(word, { class: "word-name" }), el("span", { class: "word-room" }, bar));
  }));
}
