// Which view an address means, links without loading the page again, and the back button.

import { ApiError } from "./api.js";
import { announce, debounced, el, replace } from "./dom.js";
import { failed } from "./states.js";
import { leaving, losing } from "./unsaved.js";

const VIEWS = {
  "/": () => import("./views/search.js"),
  "/compare": () => import("./views/compare.js"),
  "/map": () => import("./views/map.js"),
  "/neighbours": () => import("./views/neighbours.js"),
  "/clusters": () => import("./views/clusters.js"),
  "/topics": () => import("./views/topics.js"),
  "/document": () => import("./views/document.js"),
  "/add": () => import("./views/add.js"),
};

const MISSING = () => import("./views/missing.js"); // what any other address shows

/*
 * A view is a module with `render(container, params, { signal })`: params is a URLSearchParams, the
 * signal is aborted when the view is left. It may return a function `update(params)`, called when
 * the address changes within the view; without one it is rendered again. `title(params)` names it.
 */
let current = { path: null, module: null, update: null, leave: null };
let arrivals = 0;
let settling = false; // whether the place of an entry is still to be found again
let entry = 0; // the number of the present entry of the history, counted by the page
let returned = null; // called when the history is back at the entry that one was not to leave

/** Go to an address of the page: a new entry of the history, or in the place of the present one. */
export function go(address, { replace: inPlace = false } = {}) {
  if (losing()) return leaving().then((sure) => sure && go(address, { replace: inPlace }));
  const target = new URL(address, location.href);
  if (!inPlace) {
    keepScroll();
    entry += 1;
  }
  history[inPlace ? "replaceState" : "pushState"]({ entry }, "", target);
  return arrive({ moved: !inPlace });
}

/** Note a state in the address without asking for anything. */
export function note(address) {
  history.replaceState(history.state, "", address);
}

/** An address from a path and parameters; those that are empty are left out. */
export function address(path, params = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "" && value !== false) query.set(key, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

export function start() {
  history.scrollRestoration = "manual";
  entry = history.state?.entry ?? 0;
  history.replaceState({ ...history.state, entry }, "");
  addEventListener("popstate", travelled);
  addEventListener("click", followLink);
  // Each entry of the history knows its place, for the way forward and for loading it again.
  addEventListener("scroll", debounced(keepScroll, 150), { passive: true });
  addEventListener("pagehide", keepScroll);
  return arrive({ moved: false, back: (history.state?.scroll ?? 0) > 0 });
}

// Back and forward are told when they have happened: with something to lose the page returns, and asks.
async function travelled() {
  if (returned) {
    returned();
    return;
  }
  // An entry without a number is new: somebody has typed a #place behind the address.
  if (history.state?.entry === undefined) history.replaceState({ entry: entry + 1 }, "");
  const steps = history.state.entry - entry;
  if (losing() && steps !== 0) {
    await new Promise((resolve) => {
      returned = resolve;
      history.go(-steps);
    });
    returned = null;
    if (await leaving()) history.go(steps);
    return;
  }
  entry += steps;
  arrive({ moved: false, back: true });
}

function followLink(event) {
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (anchor.target || anchor.hasAttribute("download")) return;
  const target = new URL(anchor.href);
  if (target.origin !== location.origin || !(target.pathname in VIEWS)) return;
  if (target.hash && target.pathname === location.pathname && target.search === location.search) {
    if (target.hash === "#main") {
      event.preventDefault();
      document.getElementById("main").focus();
    }
    return;
  }
  event.preventDefault();
  go(target.href);
}

function keepScroll() {
  if (settling) return; // a page that is still too short says nothing of where one was
  history.replaceState({ ...history.state, scroll: scrollY }, "");
}

async function arrive({ moved, back = false }) {
  const path = location.pathname;
  const params = new URLSearchParams(location.search);
  arrivals += 1;
  const arrival = arrivals;
  const place = back ? history.state?.scroll ?? 0 : 0;
  settling = back;
  const main = document.getElementById("main");
  markCurrent(path);
  if (path === current.path && current.update) {
    setTitle(current.module, params);
    await current.update(params);
    if (arrival !== arrivals) return;
    if (back) scrollTo(0, place);
    settling = false;
    return;
  }
  current.leave?.abort();
  current = { path: null, module: null, update: null, leave: new AbortController() };
  const leave = current.leave;
  try {
    const module = await loaded(path);
    if (arrival !== arrivals) return;
    if (!module) {
      replace(main, failed(new ApiError("offline", GONE), () => location.reload()));
      return;
    }
    const container = el("div", { class: path in VIEWS ? `view view-${path.slice(1) || "search"}` : "view" });
    replace(main, container);
    setTitle(module, params);
    if (moved) scrollTo(0, 0);
    if (moved || back) {
      main.focus({ preventScroll: true });
      announce(document.title);
    }
    const update = module.render(container, params, { signal: leave.signal });
    current = { path, module, update: typeof update === "function" ? update : null, leave };
    if (back) await restoreScroll(main, place, arrival);
  } catch (error) {
    if (arrival !== arrivals) return;
    replace(main, failed(error, () => arrive({ moved: false })));
  } finally {
    if (arrival === arrivals) settling = false;
  }
}

const GONE = "It was stopped, or the connection broke, before this part of the page was loaded. Start textkin serve again.";

// A browser remembers that a module could not be had; only loading the page again asks for it again.
async function loaded(path) {
  try {
    return await (VIEWS[path] ?? MISSING)();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(error);
    return null;
  }
}

// The place where one was, once what is loaded makes the page high enough for it.
async function restoreScroll(main, wanted, arrival) {
  const deadline = performance.now() + 2000;
  while (wanted > 0 && performance.now() < deadline && arrival === arrivals) {
    scrollTo(0, wanted);
    if (Math.abs(scrollY - wanted) < 2 && !main.querySelector("[aria-busy]")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function setTitle(module, params) {
  const title = typeof module.title === "function" ? module.title(params) : module.title;
  document.title = title ? `${title} · textkin` : "textkin";
}

function markCurrent(path) {
  for (const anchor of document.querySelectorAll(".views a")) {
    if (new URL(anchor.href).pathname === path) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
}
