// Filters: field values to click on, and the same filter as text.

import { button, el, freshId, isolate } from "../dom.js";
import { join, split, toggled, word } from "../filters.js";
import { counted, shortened, whole } from "../format.js";

const SHOWN = 8; // maximum number of values of a field before the user requests all

let open = false; // stays the same from one search to the next

/** The active filters (`active`), the panel to change them (`body`), and its button (`opener`). */
export function filterBar(stats, asked, chosen, change) {
  const parts = split(asked.where);
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
        () => change({ where: join(toggled(parts.chosen, field, value), parts.rest) })));
    }
  }
  if (parts.rest) chips.push(removable("rest", isolate(shortened(parts.rest, 60)), () => change({ where: join(parts.chosen, "") })));
  if (asked.threshold !== null) {
    chips.push(removable("threshold", `${chosen.ascending ? "distance ≤" : "score ≥"} ${asked.threshold}`, () => change({ threshold: null })));
  }
  return chips.length > 0 && el("div", { class: "chips" }, chips);
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
    ...(stats.labels.length > 0 ? [{ name: "label", values: stats.labels.map(({ label, count }) => ({ value: label, count })) }] : []),
    ...stats.fields.filter((field) => field.values.length > 0),
  ];
  const text = el("input", {
    class: "input mono", name: "where", data: { key: "where" }, dir: "auto", props: { value: asked.where }, autocomplete: "off", spellcheck: "false",
    placeholder: fields.length > 0 ? `${word(fields[0].name)} = ${word(fields[0].values[0].value)}` : "year >= 2010",
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
    fields.length === 0 && el("p", { class: "hint" }, "The documents have no labels and no metadata to filter by. Filters by ID can be entered as text."),
    el("div", { class: "filter-texts" },
      el("label", { class: "field" }, el("span", { class: "label" }, "Filter as text"), text),
      el("label", { class: "field least" }, el("span", { class: "label" }, chosen.ascending ? "Maximum distance" : "Minimum score"), least),
      button("Apply", apply, { data: { key: "apply" } })),
    el("p", { class: "hint" }, "For example ", el("code", {}, "year >= 2010 and lang in (en, de)"), ", ",
      el("code", {}, "not label = spam"), ", ", el("code", {}, "exists(doi)"), "."));
}

function fieldRow(field, parts, change) {
  const pressed = parts.chosen.get(field.name) ?? [];
  const chips = field.values.map(({ value, count }) => el("button", {
    type: "button", class: "chip", data: { key: keyOf(field.name, value) }, "aria-pressed": String(pressed.includes(value)), title: counted(count, "document"),
    on: { click: () => change({ where: join(toggled(parts.chosen, field.name, value), parts.rest) }) },
  }, isolate(shortened(value === null ? "none" : String(value), 40)), el("span", { class: "count" }, whole(count))));
  const hidden = chips.slice(SHOWN).filter((chip) => chip.getAttribute("aria-pressed") !== "true");
  for (const chip of hidden) chip.hidden = true;
  const more = hidden.length > 0 && button(`${hidden.length} more`, () => {
    for (const chip of hidden) chip.hidden = false;
    more.remove();
    hidden[0].focus();
  }, { kind: "small quiet" });
  return el("div", { class: "filter-field", role: "group", "aria-label": field.name },
    el("span", { class: "label filter-name" }, isolate(field.name)), el("div", { class: "chips" }, chips, more));
}
