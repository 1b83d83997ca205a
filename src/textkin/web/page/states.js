// States shared by all views: loading, empty, and failed.

import { ApiError, aborted } from "./api.js";
import { announce, button, el, link, replace } from "./dom.js";

const LOADING_AFTER = 150; // an earlier placeholder would only flicker
const SLOW_AFTER = 4000;

/** A panel with a heading, an explanation, and actions. */
export function panel(title, text, actions = [], kind = "") {
  return el(
    "section",
    { class: `state ${kind}` },
    el("h2", {}, title),
    text && el("p", {}, text),
    actions.length > 0 && el("div", { class: "row" }, actions),
  );
}

export function skeleton(lines = 9) {
  return el(
    "div",
    { class: "waiting", "aria-hidden": "true" },
    Array.from({ length: lines }, () => el("div", { class: "waiting-line" })),
  );
}

/** Headings by error code, of the server and of api.js. */
export const HEADLINES = {
  offline: "The server does not respond",
  slow: "The server is too slow",
  too_slow: "Server timeout",
  busy: "The server is busy",
  unavailable: "The collection is unavailable",
  not_found: "Not found",
  bad_request: "Invalid request",
  invalid: "Invalid request",
  too_large: "Request too large",
  wordless: "Nothing to compare",
  unauthorized: "Wrong token",
  read_only: "This collection is read-only",
  conflict: "Document exists",
  internal: "Server error",
  broken: "Invalid response",
};
const INVALID_FIELDS = { where: "Invalid filter" }; // headings by the part of an invalid request

// Errors of a request itself: repeating the same request gives the same error.
const FINAL = new Set(["not_found", "bad_request", "invalid", "too_large", "wordless", "read_only", "conflict"]);

/** Show an error; with `retry`, a button to repeat the request if that can help. */
export function failed(error, retry = null, actions = []) {
  const known = error instanceof ApiError;
  if (!known) console.error(error);
  const ofField = known && error.code === "invalid" ? INVALID_FIELDS[error.field] : undefined;
  const title = known ? (ofField ?? HEADLINES[error.code] ?? "Error") : "This part of the page failed";
  const message = known ? error.message : error.message || String(error);
  const again = retry && !(known && FINAL.has(error.code)) ? [button("Try again", retry, { kind: "primary" })] : [];
  const gone = known && error.code === "not_found" && actions.length === 0;
  const all = gone ? [link("Search", "/", { class: "button primary" })] : [...again, ...actions];
  const frame = panel(title, message, all, "wrong");
  frame.setAttribute("role", "alert");
  return frame;
}

/**
 * Fill a container with the result of `load(signal)`, rendered by `show(answer)` (which returns nodes).
 *
 * While waiting, the present content is dimmed (or placeholder lines are shown, with `fresh`); after
 * some seconds, the user can stop; after an error, the user can retry if that can help, and has
 * the actions that `remedies(error)` returns. A second call for the same container cancels the first.
 * Returns the answer, or null if there is none.
 */
export async function fill(container, load, show, { signal, fresh = false, lines, slow = SLOW_AFTER, remedies = () => [] } = {}) {
  running.get(container)?.abort();
  const stop = new AbortController();
  running.set(container, stop);
  const give_up = () => stop.abort();
  signal?.addEventListener("abort", give_up, { once: true });
  const again = () => fill(container, load, show, { signal, fresh, lines, slow, remedies });
  const wait = waiting(container, fresh || !container.hasChildNodes(), lines, slow, () => {
    stop.abort();
    replace(container, panel("Stopped", "The request was canceled.", [
      button("Try again", again, { kind: "primary" }),
    ]));
  });
  try {
    const answer = await load(stop.signal);
    if (stop.signal.aborted) return null;
    wait.end();
    replace(container, show(answer));
    return answer;
  } catch (error) {
    wait.end();
    if (!aborted(error) && !stop.signal.aborted) replace(container, failed(error, again, remedies(error)));
    return null;
  } finally {
    signal?.removeEventListener("abort", give_up);
    if (running.get(container) === stop) {
      running.delete(container);
      wait.clear();
    }
  }
}

const running = new WeakMap(); // container -> the AbortController of its request

function waiting(container, fresh, lines, slow, stopped) {
  container.setAttribute("aria-busy", "true");
  let hint = null;
  const soon = setTimeout(() => {
    if (fresh) replace(container, skeleton(lines));
    else container.dataset.busy = "";
  }, LOADING_AFTER);
  const late = setTimeout(() => {
    announce("Still loading.");
    hint = el("div", { class: "notice row spread slow-hint" }, "This takes longer than usual.",
      button("Stop", () => { end(); clear(); stopped(); }, { kind: "small" }));
    container.prepend(hint);
  }, slow);
  function end() {
    clearTimeout(soon);
    clearTimeout(late);
    hint?.remove();
  }
  function clear() {
    container.removeAttribute("aria-busy");
    delete container.dataset.busy;
  }
  return { end, clear };
}
