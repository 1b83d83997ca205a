// The states that every view has: waiting, nothing there, something wrong.

import { ApiError, aborted } from "./api.js";
import { announce, button, el, link, replace } from "./dom.js";

const LOADING_AFTER = 150; // sooner, a flash of grey would only disturb
const SLOW_AFTER = 4000;

/** A frame with a headline, an explanation and what one can do. */
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

/** By the code of an error: the server's, and those of api.js. */
export const HEADLINES = {
  offline: "The server does not answer",
  slow: "The server takes too long",
  too_slow: "This took longer than the server allows",
  busy: "The server is busy",
  unavailable: "The collection cannot be read",
  not_found: "Not found",
  bad_request: "This cannot be asked",
  invalid: "This cannot be asked",
  too_large: "Too large",
  wordless: "Nothing to compare",
  unauthorized: "The token is not right",
  read_only: "This collection is read-only",
  conflict: "There already",
  internal: "The server failed",
  broken: "Not an answer of textkin",
};

/** Say what went wrong; with `retry`, a button that asks again. */
export function failed(error, retry = null, actions = []) {
  const known = error instanceof ApiError;
  if (!known) console.error(error);
  const title = known ? (HEADLINES[error.code] ?? "Something went wrong") : "This part of the page failed";
  const message = known ? error.message : error.message || String(error);
  const gone = known && error.code === "not_found"; // what is not there is not there the next time either
  const all = gone && actions.length === 0 ? [link("Search", "/", { class: "button primary" })] : retry ? [button("Try again", retry, { kind: "primary" }), ...actions] : actions;
  const frame = panel(title, message, all, "wrong");
  frame.setAttribute("role", "alert");
  return frame;
}

/**
 * Fill a container with what `load(signal)` brings, through `show(answer)` (which returns nodes).
 *
 * What is there stays and is dimmed while waiting (or lines are shown, with `fresh`); a wait of
 * some seconds offers to stop; an error offers to try again. A second call on the same container
 * gives up the first. Returns the answer, or null if there is none.
 */
export async function fill(container, load, show, { signal, fresh = false, lines, slow = SLOW_AFTER } = {}) {
  running.get(container)?.abort();
  const stop = new AbortController();
  running.set(container, stop);
  const give_up = () => stop.abort();
  signal?.addEventListener("abort", give_up, { once: true });
  const again = () => fill(container, load, show, { signal, fresh, lines, slow });
  const wait = waiting(container, fresh || !container.hasChildNodes(), lines, slow, () => {
    stop.abort();
    replace(container, panel("Stopped", "The request was given up before its answer came.", [
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
    if (!aborted(error) && !stop.signal.aborted) replace(container, failed(error, again));
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
    announce("Still working.");
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
