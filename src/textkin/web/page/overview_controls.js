// Controls shared by map, clusters, and topics: document vectors, and number of groups.

import { el, replace } from "./dom.js";

const NUMBERS = [4, 6, 8, 12, 16, 24];

/** A select with a label next to it; options: [[value, text]]. */
export function labelledSelect(name, options, chosen, change) {
  const control = el("select", { class: "select", on: { change: () => change(control.value) } },
    options.map(([value, text]) => el("option", { value, selected: String(value) === String(chosen) }, text)));
  return el("label", { class: "choice" }, el("span", { class: "choice-name" }, name), control);
}

export function representationSelect(stats, chosen, change) {
  const kinds = stats.representations.map((one) => [one.name, one.title]);
  if (!kinds.some(([name]) => name === chosen)) kinds.push([chosen, chosen]);
  return labelledSelect("Compare by", kinds, chosen, change);
}

export function numberSelect(name, chosen, change) {
  const numbers = [...new Set([...NUMBERS, chosen])].sort((a, b) => a - b);
  return labelledSelect(name, numbers.map((number) => [number, number]), chosen, (value) => change(Number(value)));
}

/** Replace old controls by new ones; the focus stays at the same position. */
export function renew(container, ...children) {
  const controls = () => [...container.querySelectorAll("select, input, button")];
  const at = controls().indexOf(document.activeElement);
  replace(container, ...children);
  if (at >= 0) controls()[Math.min(at, controls().length - 1)]?.focus({ preventScroll: true });
}

/** Abort signals: each call aborts the previous signal; all are aborted with the given one. */
export function turns(signal) {
  let last = new AbortController();
  return () => {
    last.abort();
    last = new AbortController();
    return AbortSignal.any([signal, last.signal]);
  };
}

/** Return a positive integer of a URL, or the alternative. */
export function wholeNumber(text, otherwise) {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? number : otherwise;
}
