// Two texts with words colored by transport distance; a word highlights its partners.

import { el, freshId } from "./dom.js";
import { percent, score } from "./format.js";

/**
 * The aligned texts of an explanation: `{ a: [Piece], b: [Piece] }` as in the API.
 *
 * Pointing at a word, or focusing it with the arrow keys, highlights its partners in the other
 * text, and shows mass and cost in the line below.
 */
export function alignedTexts(aligned, titles) {
  const hint = "Point at a word, or use the arrow keys, to see the words it moves to.";
  const line = el("p", { class: "aligned-line", role: "status" }, hint);
  const sides = {};
  for (const side of ["a", "b"]) {
    const label = freshId("aligned");
    const text = el("div", { class: "aligned-text", dir: "auto", role: "group", "aria-labelledby": label });
    for (const piece of aligned[side]) text.append(shown(piece));
    text.querySelector(".w")?.setAttribute("tabindex", "0");
    sides[side] = { label, text };
  }
  const names = { a: wordsOf(aligned.a), b: wordsOf(aligned.b) };
  const root = el(
    "div",
    { class: "aligned" },
    ["a", "b"].map((side, at) => el("section", { class: "aligned-side", data: { side } },
      el("h4", { class: "aligned-title", id: sides[side].label }, el("bdi", {}, titles[at])),
      sides[side].text)),
    line,
  );

  function point(word) {
    for (const lit of root.querySelectorAll(".lit")) lit.classList.remove("lit");
    if (!word) {
      line.textContent = hint;
      return;
    }
    const side = word.closest("[data-side]").dataset.side;
    const other = side === "a" ? "b" : "a";
    const piece = aligned[side][Number(word.dataset.piece)];
    light(sides[side].text, piece.word);
    for (const partner of piece.partners ?? []) light(sides[other].text, partner.word);
    line.textContent = described(piece, names[other]);
  }

  function light(text, number) {
    for (const found of text.querySelectorAll(`[data-word="${number}"]`)) found.classList.add("lit");
  }

  for (const side of ["a", "b"]) {
    number(sides[side].text, aligned[side]);
    sides[side].text.addEventListener("keydown", walk);
  }
  root.addEventListener("pointerover", (event) => point(event.target.closest(".w")));
  root.addEventListener("pointerleave", () => point(root.querySelector(".w:focus")));
  root.addEventListener("focusin", (event) => point(event.target.closest(".w")));
  root.addEventListener("focusout", () => point(null));
  return root;
}

function shown(piece) {
  if (piece.level === null && piece.cost === null) {
    return piece.word === null && !piece.reason ? piece.text : el("span", {
      class: `out ${piece.reason ?? ""}`,
      title: REASONS[piece.reason],
    }, piece.text);
  }
  const kind = piece.cost === 0 ? "still" : `level-${piece.level}`;
  return el("span", { class: `w ${kind}`, tabindex: "-1", data: { word: piece.word } }, piece.text);
}

const REASONS = {
  stop: "Not compared: stop word",
  unknown: "Not compared: no word vector",
};

// Maps each word element to its piece; plain text pieces have no element.
function number(text, pieces) {
  const words = text.querySelectorAll(".w");
  let at = 0;
  pieces.forEach((piece, index) => {
    if (piece.level === null && piece.cost === null) return;
    words[at].dataset.piece = index;
    at += 1;
  });
}

function wordsOf(pieces) {
  const words = new Map();
  for (const piece of pieces) {
    if (piece.word !== null && !words.has(piece.word)) words.set(piece.word, piece.text);
  }
  return words;
}

function described(piece, others) {
  const partners = piece.partners ?? [];
  if (partners.length === 0) return `${piece.text}: does not move.`;
  const parts = partners.map(({ word, mass, cost }) => {
    const name = others.get(word) ?? "another word";
    return cost === 0
      ? `${name}, ${percent(mass)} at no cost`
      : `${name}, ${percent(mass)} × ${score(cost)} = ${score(mass * cost)}`;
  });
  return `${piece.text} ↔ ${parts.join("; ")}`;
}

// Each text is one tab stop; within it, the arrow keys move from word to word.
function walk(event) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const ends = { Home: 0, End: -1 }[event.key];
  if (step === undefined && ends === undefined) return;
  const words = [...event.currentTarget.querySelectorAll(".w")];
  const at = words.indexOf(document.activeElement);
  if (at < 0) return;
  event.preventDefault();
  const next = step === undefined ? words.at(ends) : words[at + step];
  if (!next) return;
  words[at].setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}
