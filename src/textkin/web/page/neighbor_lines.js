// Lines between the same documents of two lists that are next to each other.

import { replace, shape } from "./dom.js";

/** pairs: [[left element, right element, key]], in coordinates of `room`, an SVG between the lists. */
export function drawLines(room, pairs) {
  const frame = room.getBoundingClientRect();
  room.setAttribute("viewBox", `0 0 ${Math.max(1, frame.width)} ${Math.max(1, frame.height)}`);
  const middle = (element) => {
    const box = element.getBoundingClientRect();
    return box.top + Math.min(box.height, 44) / 2 - frame.top;
  };
  replace(room, pairs.map(([left, right, key]) => {
    const [y0, y1, half] = [middle(left), middle(right), frame.width / 2];
    return shape("path", {
      class: "neighbor-line",
      "data-key": key,
      d: `M0 ${y0}C${half} ${y0} ${half} ${y1} ${frame.width} ${y1}`,
    });
  }));
}
