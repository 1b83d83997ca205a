// Explanation of a score: the drawing, the aligned texts, and a table of the parts.

import { alignedTexts } from "./aligned.js";
import { drawing, el } from "./dom.js";
import { fitted } from "./drawing_size.js";
import { counted, percent, score } from "./format.js";

/**
 * Show an explanation of the API. `titles` are the names of the two sides (query and document).
 */
export function explanation(found, titles) {
  const picture = found.svg ? drawing(found.svg) : null;
  const frame = picture && el("figure", { class: "explanation-picture", "aria-label": "Drawing" });
  if (picture) fitted(frame, picture);
  return el(
    "div",
    { class: "explanation" },
    summary(found),
    frame,
    found.aligned && alignedTexts(found.aligned, titles),
    found.parts.length > 0 && el(
      "details",
      { class: "fold", open: !picture },
      el("summary", {}, "Table of the parts"),
      el("div", { class: "scrolls" }, partsTable(found)),
    ),
    found.notes.map((text) => el("p", { class: "notice" }, text)),
  );
}

function summary(found) {
  const total = `The ${found.score_name} is ${score(found.score)}, the sum of the parts below.`;
  return el(
    "p",
    { class: "explanation-line" },
    total,
    found.verified === true && el("span", {
      class: "chip proof",
      title: "Checked independently of the solver: the moves are valid, and their dual potentials prove that no cheaper moves exist.",
    }, "✓ proven optimal"),
    found.verified === false && el("span", { class: "chip" }, "optimality not proven"),
  );
}

/** Return the parts of an explanation as a table; the last row sums the rest. */
export function partsTable(found) {
  const flow = found.kind === "flow";
  const heads = flow ? ["From", "To", "Weight", "Cost", "Contribution"] : ["Part", "Contribution"];
  const rows = flow
    ? found.parts.map((part) => [
      word(part.source), word(part.target), figure(percent(part.mass)),
      figure(score(part.cost)), figure(score(part.contribution)), shareCell(part.share),
    ])
    : nested(found.parts, 0);
  const rest = found.rest && found.rest.count > 0 ? [
    el("td", { colspan: heads.length - 1, class: "muted" }, counted(found.rest.count, "more part")),
    figure(score(found.rest.value)), el("td", {}),
  ] : null;
  return el(
    "table",
    { class: "table parts" },
    el("thead", {}, el("tr", {},
      heads.map((head, at) => el("th", { scope: "col", class: at >= (flow ? 2 : 1) ? "figure" : null }, head)),
      el("th", { scope: "col" }, "Share"))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells)), rest && el("tr", {}, rest)),
  );
}

function nested(parts, depth) {
  return parts.flatMap((part) => {
    const name = el("th", { scope: "row", class: `part depth-${Math.min(depth, 3)}` },
      el("bdi", {}, part.name),
      part.note && el("span", { class: "muted part-note" }, part.note));
    const row = [name, figure(score(part.value)), depth === 0 ? shareCell(part.share) : el("td", {})];
    return [row, ...nested(part.parts ?? [], depth + 1)];
  });
}

function word(text) {
  return el("td", {}, el("bdi", {}, text));
}

function figure(text) {
  return el("td", { class: "figure" }, text);
}

function shareCell(share) {
  if (share === null || share === undefined) return el("td", {});
  const bar = el("span", { class: share < 0 ? "bar below" : "bar", "aria-hidden": "true" });
  bar.style.inlineSize = `${Math.min(1, Math.abs(share)) * 5}rem`;
  return el("td", { class: "share" }, el("span", { class: "share-inside" }, bar, percent(share)));
}
