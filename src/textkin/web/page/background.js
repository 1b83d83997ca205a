// Long computations on the server: progress, then the result.

import { poll } from "./api.js";
import { collection } from "./collection.js";
import { announce, el, link, replace } from "./dom.js";
import { whole } from "./format.js";
import { fill, panel } from "./states.js";

const NEVER = 2 ** 31 - 1; // milliseconds; the progress view replaces the hint about slow requests

/**
 * Fill a container with a result for the whole collection.
 *
 * title: heading while computing; what: the result ("a map"); `wanted`: {name: [path, params]}, requested
 * one after another because the server computes one at a time; known(stats) is called first,
 * show({name: answer}, stats) at the end.
 */
export function compute(container, { title, what, wanted, known, show }, { signal }) {
  const load = async (stop) => {
    const stats = await collection({ signal: stop });
    if (stats.documents < 2) return { stats, answers: null };
    known(stats);
    const answers = {};
    let told = false;
    for (const [name, [path, params]] of Object.entries(wanted)) {
      answers[name] = await poll(path, params, {
        signal: stop,
        progress: (state) => {
          if (!told) announce(`${title}: computing.`);
          told = true;
          replace(container, working(title, state));
        },
      });
    }
    return { stats, answers };
  };
  // otherwise the gray placeholder lines would cover the progress
  replace(container, el("div", {}));
  return fill(container, load, ({ stats, answers }) => (answers ? show(answers, stats) : tooFew(stats, what)), {
    signal,
    slow: NEVER,
  });
}

function working(title, { done = 0, total = 0 }) {
  const known = total > 0;
  const percent = known ? Math.round((100 * done) / total) : null;
  return el(
    "section",
    { class: "state computing" },
    el("h2", {}, title),
    el("p", {}, "This runs once until the collection changes. You can leave this view and come back."),
    el("progress", { class: "progress", max: known ? total : null, value: known ? done : null, "aria-label": title }),
    el("p", { class: "small" }, known ? `${percent} % · step ${whole(done)} of ${whole(total)}` : "Starting …"),
  );
}

function tooFew(stats, what) {
  const actions = stats.writable
    ? [link("Add documents", "/add", { class: "button primary" })]
    : [link("Search", "/", { class: "button" })];
  return stats.documents === 0
    ? panel("No documents yet", `Without documents, there is no way to compute ${what}.`, actions)
    : panel("One document only", `To compute ${what}, the collection must have at least two documents.`, actions);
}
