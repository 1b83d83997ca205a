// What the server computes in the background: its progress while it does, then the answer.

import { poll } from "./api.js";
import { collection } from "./collection.js";
import { announce, el, link, replace } from "./dom.js";
import { whole } from "./format.js";
import { fill, panel } from "./states.js";

const NEVER = 2 ** 31 - 1; // milliseconds; what is computing says so itself

/**
 * Fill a container with what is computed of the whole collection.
 *
 * title: what is being done; what: what comes of it ("a map"); wanted: {name: [path, params]}, asked
 * for one after another because the server computes one at a time; known(stats) is called first,
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
  replace(container, el("div", {})); // else lines of grey would cover the progress
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
    el("p", {}, "Computed once for this state of the collection; you may go elsewhere and come back."),
    el("progress", { class: "progress", max: known ? total : null, value: known ? done : null, "aria-label": title }),
    el("p", { class: "small" }, known ? `${percent} % · step ${whole(done)} of ${whole(total)}` : "Starting …"),
  );
}

function tooFew(stats, what) {
  const actions = stats.writable
    ? [link("Add documents", "/add", { class: "button primary" })]
    : [link("Search", "/", { class: "button" })];
  return stats.documents === 0
    ? panel("No documents yet", `There is nothing to make ${what} of.`, actions)
    : panel("One document only", `It takes at least two to make ${what}.`, actions);
}
