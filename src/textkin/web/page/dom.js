// DOM elements from plain values. Text becomes text nodes only; no HTML is parsed.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Create an element.
 *
 * Options: `class`, `data` (dataset), `on` (listeners by event), `props` (properties such as
 * `value`); any other option is an attribute; null, undefined, and false omit it, true is "".
 * Children: nodes, texts, numbers, or lists of these; null and false are omitted.
 */
export function el(name, options = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(options)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") element.className = value;
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key === "props") Object.assign(element, value);
    else if (key === "on") {
      for (const [event, listener] of Object.entries(value)) {
        element.addEventListener(event, listener);
      }
    } else element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : String(child));
  }
  return parent;
}

/** Replace all children. */
export function replace(parent, ...children) {
  parent.replaceChildren();
  return append(parent, ...children);
}

/** Text of unknown direction, isolated so that it does not affect the text next to it. */
export function isolate(text, options = {}) {
  return el("bdi", options, text);
}

export function button(label, click, options = {}) {
  const { kind = "", ...others } = options;
  return el("button", { type: "button", class: `button ${kind}`, on: { click }, ...others }, label);
}

export function link(label, href, options = {}) {
  return el("a", { href, ...options }, label);
}

// Elements and attributes allowed in drawings. The server escapes its drawings; this is a second
// check.
const SHAPES = new Set(
  ("svg g path rect circle ellipse line polyline polygon text tspan title desc defs " +
    "linearGradient radialGradient stop clipPath a").split(" "),
);
const REFERS = new Set(["href", "xlink:href", "style"]);

/** Parse the text of an SVG drawing into an element; return null for anything else. */
export function drawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const root = parsed.documentElement;
  if (root.namespaceURI !== SVG || root.localName !== "svg") return null;
  clean(root);
  return document.importNode(root, true);
}

function clean(element) {
  for (const attribute of [...element.attributes]) {
    if (attribute.name.startsWith("on") || REFERS.has(attribute.name)) {
      element.removeAttribute(attribute.name);
    }
  }
  for (const child of [...element.children]) {
    if (child.namespaceURI === SVG && SHAPES.has(child.localName)) clean(child);
    else child.remove();
  }
}

/** Create an SVG element with attributes and children, as `el` does for HTML. */
export function shape(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  return append(element, children);
}

let lastNumber = 0;

/** Return an ID for elements that refer to each other (labels, aria-controls). */
export function freshId(prefix) {
  lastNumber += 1;
  return `${prefix}-${lastNumber}`;
}

/** Announce a change to screen readers, without a visible effect. */
export function announce(text) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  // After a pause, screen readers also repeat an unchanged text.
  setTimeout(() => { place.textContent = text; }, 30);
}

export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Call a function once, `wait` milliseconds after the last call. */
export function debounced(call, wait) {
  let timer = 0;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}
