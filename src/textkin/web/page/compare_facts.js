// Facts about a comparison: lower bounds, and the words that are compared.

import { el, isolate } from "./dom.js";
import { counted, score } from "./format.js";

const BOUNDS = [
  ["relaxed", "relaxed (RWMD)", "Each word goes to its nearest partner, with no capacity limit (relaxed Word Mover's Distance)."],
  ["centroid", "centroids (WCD)", "Distance of the two mean vectors (word centroid distance)."],
];
const SHOWN = 8; // maximum number of words to list

export function compareFacts({ bounds, coverage }) {
  if (!bounds && !coverage) return null;
  return el(
    "dl",
    { class: "facts" },
    bounds && fact("Lower bounds", BOUNDS.filter(([key]) => bounds[key] !== undefined).map(([key, name, why]) =>
      el("span", { class: "fact-part", title: why }, `${name}: `, el("strong", {}, score(bounds[key]))))),
    coverage && ["source", "target"].map((side, at) => covered(["First text", "Second text"][at], coverage[side])),
  );
}

function fact(name, content) {
  return el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, content));
}

function covered(name, { known, total, unknown, cut }) {
  const count = known === total ? `all ${counted(total, "word")} compared` : `${known} of ${counted(total, "word")} compared`;
  return fact(name, [
    count,
    left("without a vector", Object.keys(unknown ?? {})),
    left("over the length limit", Object.keys(cut ?? {})),
  ]);
}

function left(why, words) {
  if (words.length === 0) return null;
  const more = words.length - SHOWN;
  return el("span", { class: "fact-part" }, `${why}: `,
    words.slice(0, SHOWN).flatMap((word, at) => [at > 0 && ", ", isolate(word)]),
    more > 0 && ` and ${more} more`);
}
