// Legend of a map: groups with sign, name, and size; pressing a group shows only that group.

import { el, isolate, shape } from "./dom.js";
import { whole } from "./format.js";
import { COLOURS } from "./map_canvas.js";

const OUTLINES = [
  () => shape("circle", { cx: 7, cy: 7, r: 5 }),
  () => shape("rect", { x: 2.6, y: 2.6, width: 8.8, height: 8.8 }),
  () => shape("path", { d: "M7 1.2 13 11.6H1Z" }),
  () => shape("path", { d: "M7 .8 13.2 7 7 13.2.8 7Z" }),
];

/** Return true if a legend omits groups until the user requests all. */
export function shortens(groups) {
  return groups.length > FIRST;
}

/** Return the sign of a group's points on the map. */
export function sign(group) {
  return shape(
    "svg",
    { class: `sign sign-${Math.min(group.color, COLOURS)}`, viewBox: "0 0 14 14", "aria-hidden": "true" },
    OUTLINES[group.shape](),
  );
}

const FIRST = 12; // number of groups listed before the user requests all

/**
 * A list of groups; `picked` are positions in it, `toggle(at)` is called when a group is pressed. If
 * there are many groups, only the largest and the picked ones are listed, unless `all`.
 */
export function legend(groups, picked, toggle, all) {
  return el(
    "ul",
    { class: "legend", "aria-label": "Groups" },
    groups.map((group, at) => (all || at < FIRST || picked.has(at)) &&
      el("li", {}, el(
        "button",
        {
          type: "button",
          class: "legend-entry",
          "aria-pressed": String(picked.has(at)),
          title: group.name,
          on: { click: () => toggle(at) },
        },
        sign(group),
        isolate(group.name, { class: "legend-name" }),
        el("span", { class: "legend-count" }, whole(group.count)),
      ))),
  );
}
