// The choices that map, clusters and topics share: what documents are compared by, and how many groups.

import { el } from "./dom.js";

const NUMBERS = [4, 6, 8, 12, 16, 24];

/** A select with its name beside it; options: [[value, text]]. */
export function labelledSelect(name, options, chosen, change) {
  const control = el("select", { class: "select", on: { change: () => change(control.value) } },
    options.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, text)));
  return el("label", { class: "choice" }, el("span", { class: "choice-name" }, name), control);
}

export function representationSelect(stats, chosen, change) {
  const kinds = stats.representations.map((one) => [one.name, one.title]);
  if (!kinds.some(([name]) => name === chosen)) kinds.push([chosen, chosen]);
  return labelledSelect("Near by", kinds, chosen, change);
}

export function numberSelect(name, chosen, change) {
  const numbers = [...new Set([...NUMBERS, chosen])].sort((a, b) => a - b);
  return labelledSelect(name, numbers.map((number) => [number, number]), chosen, (value) => change(Number(value)));
}

/** A whole number of an address from 1 up, or what stands for none. */
export function wholeNumber(text, otherwise) {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? number : otherwise;
}
