// What is known of a comparison beside its parts: lower bounds, and which words count.

import { el, isolate } from "./dom.js";
import { counted, score } from "./format.js";

const BOUNDS = [
  ["relaxed", "relaxed", "Every word goes to its nearest partner, whoever else goes there (RWMD)."],
  ["centroid", "centroids", "The distance of the two mean vectors (WCD)."],
];
const SHOWN = 8; // words that are named

export function compareFacts({ bounds, coverage }) {
  if (!bounds && !coverage) return null;
  return el(
    "dl",
    { class: "facts" },
    bounds && fact("At least", BOUNDS.filter(([key]) => bounds[key] !== undefined).map(([key, name, why]) =>
      el("span", { class: "fact-part", title: why }, el("strong", {}, score(bounds[key])), ` by ${name}`))),
    coverage && ["source", "target"].map((side, at) => covered(["First text", "Second text"][at], coverage[side])),
  );
}

function fact(name, content) {
  return el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, content));
}

function covered(name, { known, total, unknown, cut }) {
  const count = known === total ? `all ${counted(total, "word")} count` : `${known} of ${counted(total, "word")} count`;
  return fact(name, [
    count,
    left("no vector", Object.keys(unknown ?? {})),
    left("beyond the limit", Object.keys(cut ?? {})),
  ]);
}

function left(why, words) {
  if (words.length === 0) return null;
  const more = words.length - SHOWN;
  return el("span", { class: "fact-part" }, `${why}: `,
    words.slice(0, SHOWN).flatMap((word, at) => [at > 0 && ", ", isolate(word)]),
    more > 0 && ` and ${more} more`);
}
