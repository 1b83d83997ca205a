// What the server computes in the background: its progress while it does, then the answer.

import { poll } from "./api.js";
import { announce, el, link, replace } from "./dom.js";
import { whole } from "./format.js";
import { fill, panel } from "./states.js";

const NEVER = 2 ** 31 - 1; // milliseconds; what is computing says so itself

/**
 * Fill a container with background answers. wanted: {name: [path, params]}, asked for one after
 * another because the server computes one at a time; `show` gets {name: answer}.
 */
export function compute(container, title, wanted, show, { signal }) {
  const load = async (stop) => {
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
    return answers;
  };
  replace(container, el("div", { class: "computing-soon" })); // else lines of grey would cover the progress
  return fill(container, load, show, { signal, slow: NEVER });
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

/** What to say of a collection with fewer than two documents; null where there are enough. */
export function tooFew(stats, what) {
  if (stats.documents > 1) return null;
  const actions = stats.writable
    ? [link("Add documents", "/add", { class: "button primary" })]
    : [link("Search", "/", { class: "button" })];
  return stats.documents === 0
    ? panel("No documents yet", `There is nothing to make ${what} of.`, actions)
    : panel("One document only", `It takes at least two to make ${what}.`, actions);
}
