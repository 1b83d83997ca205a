// Documents of a map as text: the chosen or found ones, and all of them, page by page.

import { button, el, isolate, link } from "./dom.js";
import { counted, whole } from "./format.js";
import { address } from "./router.js";

const SHORT = 60; // maximum length of a list next to the map
const PAGE = 50;

function documentLink(map, i) {
  return link(isolate(map.titles[i] || map.ids[i]), address("/document", { id: map.ids[i] }), { dir: "auto" });
}

/** A short list with a heading; `remove`, if given, clears the list. */
export function shortList(map, members, verb, remove) {
  const more = members.length - SHORT;
  return el(
    "section",
    { class: "map-short", "aria-label": `${counted(members.length, "document")} ${verb}` },
    el("div", { class: "row spread" },
      el("h2", {}, `${whole(members.length)} ${verb}`),
      remove && button("Clear", remove, { kind: "quiet small" })),
    el("ol", { class: "map-documents" }, members.slice(0, SHORT).map((i) =>
      el("li", {}, documentLink(map, i), el("span", { class: "map-id mono" }, isolate(map.ids[i]))))),
    more > 0 && el("p", { class: "hint" }, `and ${whole(more)} more`),
    el("div", { class: "row" }, actions(map, members)),
  );
}

function actions(map, members) {
  const ids = members.map((i) => map.ids[i]);
  if (ids.length === 1) {
    return link("Neighbors", address("/neighbors", { id: ids[0] }), { class: "button small" });
  }
  if (ids.length === 2) {
    return link("Compare the two", address("/compare", { a_id: ids[0], b_id: ids[1] }), { class: "button small" });
  }
  return null;
}

/** All shown documents as a table, PAGE at a time. columns: [[heading, (i) => text]]. */
export function longList(map, members, columns, at, turn) {
  const last = Math.max(0, Math.ceil(members.length / PAGE) - 1);
  const page = Math.min(at, last);
  const rows = members.slice(page * PAGE, (page + 1) * PAGE);
  return [
    el("div", { class: "scrolls" }, el(
      "table",
      { class: "table" },
      el("thead", {}, el("tr", {}, ["Document", ...columns.map(([name]) => name)].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, rows.map((i) => el(
        "tr",
        {},
        el("td", {}, documentLink(map, i)),
        columns.map(([, text]) => el("td", {}, isolate(text(i)))),
      ))),
    )),
    el(
      "div",
      { class: "row" },
      button("Previous", () => turn(page - 1), { kind: "small", disabled: page === 0 }),
      el("span", { class: "hint" }, members.length
        ? `${whole(page * PAGE + 1)} to ${whole(page * PAGE + rows.length)} of ${whole(members.length)}`
        : "none"),
      button("Next", () => turn(page + 1), { kind: "small", disabled: page === last }),
    ),
  ];
}
