// Filters: field values to click on, ranges of numbers and dates, and the same filter as text.

import { button, el, freshId, isolate } from "../dom.js";
import { bounded, join, rangeText, split, toggled, word } from "../filters.js";
import { counted, shortened, whole } from "../format.js";

const SHOWN = 8; // maximum number of values of a field before the user requests all

let open = false; // stays the same from one search to the next

/** The active filters (`active`), the panel to change them (`body`), and its button (`opener`). */
export function filterBar(stats, asked, chosen, change) {
  const types = new Map(stats.fields.filter(hasRange).map((field) => [field.name, field.type]));
  const parts = { types, ...split(asked.where, types) };
  const id = freshId("filters");
  const body = panelOf(stats, asked, chosen, parts, change);
  body.id = id;
  body.hidden = !open;
  const opener = button("Filter", () => {
    open = body.hidden;
    body.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    if (open) body.querySelector("button, input")?.focus();
  }, { data: { key: "opener" }, "aria-expanded": String(open), "aria-controls": id });
  return { opener, active: active(asked, chosen, parts, change), body };
}

function active(asked, chosen, parts, change) {
  const chips = [];
  for (const [field, values] of parts.chosen) {
    for (const value of values) {
      chips.push(removable(keyOf(field, value), [isolate(field), " = ", isolate(shortened(word(value), 40))],
        () => change({ where: rejoined(parts, { chosen: toggled(parts.chosen, field, value) }) })));
    }
  }
  for (const [field, range] of parts.ranges) {
    chips.push(removable(keyOf(field, "range"), isolate(shortened(rangeText(field, range, parts.types.get(field)), 60)),
      () => change({ where: rejoined(parts, { ranges: bounded(parts.ranges, field, { low: null, high: null }) }) })));
  }
  if (parts.rest) chips.push(removable("rest", isolate(shortened(parts.rest, 60)), () => change({ where: rejoined(parts, { rest: "" }) })));
  if (asked.threshold !== null) {
    chips.push(removable("threshold", `${chosen.ascending ? "distance ≤" : "score ≥"} ${asked.threshold}`, () => change({ threshold: null })));
  }
  return chips.length > 0 && el("div", { class: "chips" }, chips);
}

// The filter with one of its parts replaced.
function rejoined(parts, changed) {
  const { chosen, ranges, rest, types } = { ...parts, ...changed };
  return join(chosen, rest, ranges, types);
}

function hasRange(field) {
  return field.type !== null && field.low !== field.high;
}

function keyOf(field, value) {
  return JSON.stringify([field, value]);
}

/** Return the control that had the focus before redrawing, or the opener if it no longer exists. */
export function keyed(tools, key) {
  const all = [...tools.querySelectorAll("[data-key]")];
  return all.find((one) => one.dataset.key === key) ?? all.find((one) => one.dataset.key === "opener");
}

function removable(key, label, click) {
  return el("button", { type: "button", class: "chip on", data: { key: `on ${key}` }, title: "Remove filter", on: { click } },
    el("span", { class: "unseen" }, "Remove "), label, el("span", { class: "chip-x", "aria-hidden": "true" }, "×"));
}

function panelOf(stats, asked, chosen, parts, change) {
  const fields = [
    ...(stats.labels.length > 0 ? [{ name: "label", type: null, values: stats.labels.map(({ label, count }) => ({ value: label, count })) }] : []),
    ...stats.fields.filter((field) => field.values.length > 0),
  ];
  const text = el("input", {
    class: "input mono", name: "where", data: { key: "where" }, dir: "auto", props: { value: asked.where }, autocomplete: "off", spellcheck: "false",
    placeholder: exampleOf(fields[0]),
  });
  const least = el("input", {
    class: "input", name: "threshold", data: { key: "least" }, inputmode: "decimal", props: { value: asked.threshold ?? "" }, autocomplete: "off",
  });
  const apply = () => {
    const number = least.value.trim() === "" ? null : Number(least.value.replace(",", ".").replace("−", "-"));
    const wrong = number !== null && !Number.isFinite(number);
    least.setAttribute("aria-invalid", String(wrong));
    if (wrong) least.focus();
    else change({ where: text.value.trim(), threshold: number });
  };
  const onEnter = { keydown: (event) => { if (event.key === "Enter") { event.preventDefault(); apply(); } } };
  text.addEventListener("keydown", onEnter.keydown);
  least.addEventListener("keydown", onEnter.keydown);
  const json = parts.rest.startsWith("{");
  return el("div", { class: "filters panel" },
    json
      ? el("p", { class: "hint" }, "The filter is a JSON object; edit it as text.")
      : fields.map((field) => fieldRow(field, parts, change)),
    fields.length === 0 && el("p", { class: "hint" }, "The documents have no labels and no metadata. You can filter by ID."),
    el("div", { class: "filter-texts" },
      el("label", { class: "field" }, el("span", { class: "label" }, "Filter as text"), text),
      el("label", { class: "field least" }, el("span", { class: "label" }, chosen.ascending ? "Maximum distance" : "Minimum score"), least),
      button("Apply", apply, { data: { key: "apply" } })),
    el("p", { class: "hint" }, "For example ", examples(fields).map((text, at) => [at > 0 && ", ", el("code", {}, text)]), "."));
}

// Filters that use the fields and values of this collection.
function examples(fields) {
  if (fields.length === 0) return [exampleOf()];
  const ranged = fields.find(hasRange);
  const listed = fields.find((field) => field !== ranged) ?? ranged;
  const both = ranged && ranged !== listed ? `${exampleOf(ranged)} and ${exampleOf(listed)}` : exampleOf(listed);
  return [both, `not ${word(listed.name)} = ${word(listed.values[0].value)}`, `exists(${word(fields.at(-1).name)})`];
}

function exampleOf(field) {
  if (!field) return "id in (a, b)";
  if (hasRange(field)) return rangeText(field.name, { low: field.type === "number" ? middle(field) : field.high.slice(0, 10), high: null }, field.type);
  const values = field.values.slice(0, 2).map(({ value }) => word(value));
  return values.length > 1 ? `${word(field.name)} in (${values.join(", ")})` : `${word(field.name)} = ${values[0]}`;
}

// A round number within the range of a field.
function middle({ low, high }) {
  const step = 10 ** Math.floor(Math.log10(high - low));
  const found = Math.ceil(low / step + 0.5) * step;
  const number = Number(found.toPrecision(12));
  return number > low && number <= high ? number : high;
}

function fieldRow(field, parts, change) {
  const pressed = parts.chosen.get(field.name) ?? [];
  const ranged = hasRange(field);
  const values = ranged ? ofRange(field, pressed) : field.values;
  const chips = values.map(({ value, count }) => el("button", {
    type: "button", class: "chip", data: { key: keyOf(field.name, value) }, "aria-pressed": String(pressed.includes(value)), title: counted(count, "document"),
    on: { click: () => change({ where: rejoined(parts, { chosen: toggled(parts.chosen, field.name, value) }) }) },
  }, isolate(shortened(value === null ? "none" : String(value), 40)), el("span", { class: "count" }, whole(count))));
  const hidden = chips.slice(SHOWN).filter((chip) => chip.getAttribute("aria-pressed") !== "true");
  for (const chip of hidden) chip.hidden = true;
  const more = hidden.length > 0 && button(`${hidden.length} more`, () => {
    for (const chip of hidden) chip.hidden = false;
    more.remove();
    hidden[0].focus();
  }, { kind: "small quiet" });
  return el("div", { class: "filter-field", role: "group", "aria-label": field.name },
    el("span", { class: "label filter-name" }, isolate(field.name)),
    el("div", { class: "filter-values" }, ranged && rangeInputs(field, parts, change),
      chips.length > 0 && el("div", { class: "chips" }, chips, more)));
}

// The values of a field with a range: all in ascending order if there are few, or only chosen values.
function ofRange({ values }, pressed) {
  if (values.length > SHOWN) return values.filter(({ value }) => pressed.includes(value));
  return values.toSorted((a, b) => (a.value < b.value ? -1 : 1));
}

// Two inputs, "from" and "to"; a changed and valid value is applied at once.
function rangeInputs(field, parts, change) {
  const number = field.type === "number";
  const range = parts.ranges.get(field.name) ?? { low: null, high: null };
  const inputs = ["low", "high"].map((side) => el("input", {
    class: "input", type: number ? "text" : "date", inputmode: number ? "decimal" : null, autocomplete: "off",
    data: { key: keyOf(field.name, side) }, "aria-label": `${field.name}, ${side === "low" ? "from" : "to"}`,
    placeholder: number ? String(field[side]) : null, props: { value: range[side] ?? "" },
    on: { change: apply, keydown: (event) => { if (event.key === "Enter") { event.preventDefault(); apply(event); } } },
  }));
  return el("div", { class: "filter-range" }, el("span", { class: "muted" }, "from"), inputs[0], el("span", { class: "muted" }, "to"), inputs[1]);

  function apply({ target }) {
    const [low, high] = inputs.map(read);
    inputs.forEach((input, at) => input.setAttribute("aria-invalid", String([low, high][at] === undefined)));
    // A partial date has an empty value; it is not the removal of the bound.
    if (low === undefined || high === undefined || target.validity.badInput) return;
    if (low !== range.low || high !== range.high) change({ where: rejoined(parts, { ranges: bounded(parts.ranges, field.name, { low, high }) }) });
  }

  function read(input) {
    const text = input.value.trim();
    if (text === "") return null;
    if (!number) return text;
    const found = Number(text.replace(",", ".").replace("−", "-"));
    return Number.isFinite(found) ? found : undefined;
  }
}
