// The choices that map, clusters and topics share: what documents are compared by, and how many groups.

import { el, replace } from "./dom.js";

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

/** Put new controls in the place of old ones; who was at the third is at the third again. */
export function renew(container, ...children) {
  const controls = () => [...container.querySelectorAll("select, input, button")];
  const at = controls().indexOf(document.activeElement);
  replace(container, ...children);
  if (at >= 0) controls()[Math.min(at, controls().length - 1)]?.focus({ preventScroll: true });
}

/** Signals of which each call aborts the one before; all are aborted with the given one. */
export function turns(signal) {
  let last = new AbortController();
  return () => {
    last.abort();
    last = new AbortController();
    return AbortSignal.any([signal, last.signal]);
  };
}

/** A whole number of an address from 1 up, or what stands for none. */
export function wholeNumber(text, otherwise) {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? number : otherwise;
}
