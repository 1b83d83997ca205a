// Views by URL path, links without reloading the page, and the back button.

import { ApiError } from "./api.js";
import { announce, debounced, el, replace } from "./dom.js";
import { failed } from "./states.js";
import { leaving, losing } from "./unsaved.js";

const VIEWS = {
  "/": () => import("./views/search.js"),
  "/compare": () => import("./views/compare.js"),
  "/map": () => import("./views/map.js"),
  "/neighbors": () => import("./views/neighbors.js"),
  "/clusters": () => import("./views/clusters.js"),
  "/topics": () => import("./views/topics.js"),
  "/document": () => import("./views/document.js"),
  "/add": () => import("./views/add.js"),
};

const MISSING = () => import("./views/missing.js"); // for any other path

/*
 * A view is a module with `render(container, params, { signal })`: params is a URLSearchParams, and the
 * signal is aborted when the user leaves the view. It may return a function `update(params)`, called when
 * the URL changes within the view; without it, the view is rendered again. `title(params)` names it.
 */
let current = { path: null, module: null, update: null, leave: null };
let arrivals = 0;
let settling = false; // true until the scroll position of an entry is restored
let entry = 0; // number of the current history entry, counted by the page
let returned = null; // called when the history is back at the entry that the user chose to stay at

/** Go to a URL of the page: as a new history entry, or replacing the current one. */
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

/** Store a state in the URL without requesting anything. */
export function note(address) {
  history.replaceState(history.state, "", address);
}

/** Return a URL from a path and parameters; empty parameters are omitted. */
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
  // Each history entry stores its number, for going forward and for reloading.
  addEventListener("scroll", debounced(keepScroll, 150), { passive: true });
  addEventListener("pagehide", keepScroll);
  return arrive({ moved: false, back: (history.state?.scroll ?? 0) > 0 });
}

// Back and forward are reported after the fact: with unsaved data, the page returns and asks the
// user.
async function travelled() {
  if (returned) {
    returned();
    return;
  }
  // An entry without a number is new: the user typed a #fragment.
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
  if (settling) return; // while a page is still loading, its scroll position is not meaningful
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

const GONE = "The server stopped, or the connection was lost, before this part of the page was loaded. Restart textkin serve.";

// A browser remembers a failed module; only reloading the page requests it again.
async function loaded(path) {
  try {
    return await (VIEWS[path] ?? MISSING)();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(error);
    return null;
  }
}

// Restore the scroll position once the loaded page is high enough.
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
