// Fits a drawing to a narrow window: words keep their size, and the middle shrinks. Flows and bars
// have a column of words, a middle, and a column of words or numbers, with a legend below.

import { shape } from "./dom.js";

const SMALLER = 0.8; // smallest scale of the whole drawing before only its middle shrinks
// minimum width of the middle, in pixels; in a narrower window the whole drawing shrinks
const MIDDLE = 64;
const NUMBERED = 110; // minimum width of the middle, in pixels, for numbers on ribbons
const EDGE = 10; // space next to words
const MARGIN = 14;
const LINE = 16; // line height of small print

/** Show a drawing in an element, and redraw it when the width changes. */
export function fitted(host, picture) {
  const columns = { "textkin-flow": flowColumns, "textkin-bars": barColumns }[picture.getAttribute("class")];
  const natural = picture.viewBox.baseVal.width;
  let before = 0;
  host.append(picture);
  if (!columns) return;
  new ResizeObserver(() => {
    const width = host.clientWidth;
    if (width === before || width === 0) return;
    before = width;
    host.replaceChildren(picture); // only elements in the page can be measured
    const found = width < SMALLER * natural ? columns(picture) : null;
    if (found && found.right > found.left) host.replaceChildren(narrow(picture, found, width));
  }).observe(host);
}

// Edges of the middle, required width of the columns next to it, and the small print.

function flowColumns(picture) {
  const inside = picture.querySelector("g");
  const bars = [...inside.querySelectorAll(".bar")].map((bar) => number(bar, "x"));
  const [left, right] = [Math.min(...bars), Math.max(...bars) + 8];
  const texts = [...inside.querySelectorAll("text")];
  const reach = (found, from) => Math.max(0, ...texts.filter(found).map((text) => Math.abs(number(text, "x") - from) + text.getComputedTextLength()));
  return {
    left, right,
    needLeft: EDGE + reach((text) => number(text, "x") < left, left),
    needRight: EDGE + reach((text) => number(text, "x") > right, right),
  };
}

function barColumns(picture) {
  const names = [...picture.querySelectorAll("svg > svg")];
  const bars = [...picture.querySelectorAll(".adds, .takes, .rest")];
  const right = Math.max(0, ...bars.map((bar) => number(bar, "x") + number(bar, "width")));
  return {
    left: Math.min(right, ...bars.map((bar) => number(bar, "x"))),
    right,
    needLeft: EDGE + Math.max(MARGIN, ...names.map((name) => number(name, "x") + name.firstElementChild.getComputedTextLength())),
    needRight: picture.viewBox.baseVal.width - right,
  };
}

function narrow(picture, { left, right, needLeft, needRight }, room) {
  const natural = picture.viewBox.baseVal.width;
  const title = picture.querySelector(".title");
  const most = Math.max(needLeft + MIDDLE + needRight, 2 * MARGIN + (title?.getComputedTextLength() ?? 0));
  const width = Math.max(room, Math.ceil(most));
  const ratio = (width - needLeft - needRight) / (right - left);
  const place = (x) => {
    if (x < left) return x - left + needLeft;
    return x > right ? x - right + width - needRight : needLeft + (x - left) * ratio;
  };
  const made = picture.cloneNode(true);
  const copies = made.querySelectorAll("text");
  const lengths = new Map([...picture.querySelectorAll("text")].map((text, at) => [copies[at], text.getComputedTextLength()]));

  for (const path of made.querySelectorAll("path")) {
    path.setAttribute("d", path.getAttribute("d").replace(/([\d.]+) ([\d.]+)/g, (_, x, y) => `${place(Number(x)).toFixed(1)} ${y}`));
  }
  for (const bar of made.querySelectorAll("rect:not(.ground, svg > .ribbon)")) {
    const [from, to] = [place(number(bar, "x")), place(number(bar, "x") + number(bar, "width"))];
    set(bar, { x: from, width: Math.max(to - from, bar.matches(".bar") ? 3 : 0.5) });
  }
  for (const line of made.querySelectorAll("line")) set(line, { x1: place(number(line, "x1")), x2: place(number(line, "x2")) });
  for (const name of made.querySelectorAll("svg > svg")) set(name, { width: lengths.get(name.firstElementChild) + 2 });
  for (const text of made.querySelectorAll("g text, text.number")) {
    const x = number(text, "x");
    if (x < left || x > right) set(text, { x: place(x) });
    else if (width - needLeft - needRight < NUMBERED) text.remove();
    else set(text, { x: needLeft + x - left });
  }
  if (title?.getAttribute("text-anchor") === "middle") set(made.querySelector(".title"), { x: width / 2 });
  const up = heads(made, width, lengths);
  const height = smallPrint(made, width, natural, up, lengths);
  set(made.querySelector(".ground"), { width, height });
  set(made, { viewBox: `0 0 ${width} ${height}`, width, height });
  return made;
}

// The names of the two sides are next to each other, or hidden. Returns how far the rest moves up.
function heads(made, width, lengths) {
  const found = [...made.querySelectorAll(".head")];
  if (found.reduce((sum, text) => sum + lengths.get(text), 0) + (found.length + 1) * MARGIN <= width) {
    for (const text of found) if (text.getAttribute("text-anchor") === "end") set(text, { x: width - MARGIN });
    return 0;
  }
  for (const text of found) text.remove();
  const inside = made.querySelector("g");
  const [, y] = inside.getAttribute("transform").match(/([\d.]+)\)/);
  inside.setAttribute("transform", `translate(0 ${Number(y) - 30})`);
  return 30;
}

// Legend lines that fit; the color scale has a separate line. Returns the height.
function smallPrint(made, width, natural, up, lengths) {
  const below = [...made.children].filter((one) => one.matches("text.small:not(.number), rect.ribbon"));
  const words = below.filter((one) => one.matches("text") && number(one, "x") === MARGIN);
  const scale = below.filter((one) => !words.includes(one));
  let y = number(words[0], "y") - up;
  for (const [at, text] of words.entries()) {
    const lines = wrapped(text.textContent, lengths.get(text), width - 2 * MARGIN);
    text.replaceChildren(...lines.map((line, row) => shape("tspan", { x: MARGIN, y: y + row * LINE }, line)));
    y += lines.length * LINE;
    if (at === 0 && scale.length > 0) {
      y += 4;
      for (const one of scale) set(one, { x: number(one, "x") - natural + width, y: y + number(one, "y") - number(words[0], "y") });
      y += LINE + 4;
    }
  }
  return y;
}

// Wrap a text into lines at spaces, using its average letter width.
function wrapped(text, length, room) {
  const letters = Math.max(8, Math.floor((room / length) * text.length));
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (longer.length <= letters || lines.at(-1) === "") lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function number(element, name) {
  return Number(element.getAttribute(name) ?? 0);
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, typeof value === "number" ? value.toFixed(1) : value);
  }
}
