// Two texts next to each other, compared while the user types.

import { ApiError, get, post } from "../api.js";
import { rankingSelect } from "../selects.js";
import { collection } from "../collection.js";
import { EXAMPLES } from "../compare_examples.js";
import { plainly } from "../compare_errors.js";
import { compareFacts } from "../compare_facts.js";
import { readTexts, turnPage, writeTexts } from "../compare_texts.js";
import { documentPicker } from "../document_picker.js";
import { announce, button, debounced, el, link, replace } from "../dom.js";
import { explanation } from "../explanation.js";
import { score } from "../format.js";
import { renew } from "../overview_controls.js";
import { address, go, note } from "../router.js";
import { failed, fill, panel } from "../states.js";

export const title = "Compare";

const MEASURE = "wmd";
const PAUSE = 220; // milliseconds without a key press before texts are compared
const NAMES = { a: "First text", b: "Second text" };

export function render(container, params, { signal }) {
  const sides = { a: new Side("a", { edited, settled: remember, leave }), b: new Side("b", { edited, settled: remember, leave }) };
  const measure = el("div", { class: "compare-measure" });
  const result = el("div", { class: "compare-result working", "aria-live": "off" });
  let state = null;
  let last = null; // last successful response
  let stats = null;

  replace(
    container,
    el("h1", { class: "unseen" }, "Compare two texts"),
    el("div", { class: "compare-sides" }, sides.a.element, sides.b.element),
    el("div", { class: "compare-bar" }, measure, button("Swap", swap, { title: "Swap the two texts" })),
    result,
  );

  function leave(name, part) {
    remember();
    turnPage();
    go(writeTexts({ ...state, [name]: part }, MEASURE));
    sides[name].area.focus(); // the list of documents closes
  }

  function swap() {
    remember();
    turnPage();
    go(writeTexts({ ...state, a: state.b, b: state.a }, MEASURE));
  }

  // Typing replaces the URL, so that the history has one entry per pair, not per letter. The URL
  // changes only after a pause, because browsers limit the rate of changes.
  const later = debounced(() => {
    if (signal.aborted) return;
    remember();
    compare();
  }, PAUSE);
  function remember() {
    note(writeTexts(state, MEASURE));
  }
  function edited(name, text) {
    state = { ...state, missing: false, [name]: { id: null, text } };
    sides[name].label(state[name]);
    later();
  }

  async function compare() {
    const empty = ["a", "b"].filter((name) => state[name].id === null && !state[name].text.trim());
    if (empty.length > 0) {
      last = null;
      return fill(result, async () => null, () => beginning(empty), { signal });
    }
    const asked = Object.fromEntries(["a", "b"].map((name) => [name, state[name].id === null ? state[name].text : { id: state[name].id }]));
    const { ranking } = state;
    const load = async (stop) => {
      try {
        return await post("/compare", { ...asked, ranking, limit: 20 }, { signal: stop });
      } catch (error) {
        // A partial word may have nothing to compare: the last good result stays below the error.
        if (error instanceof ApiError && error.status >= 400 && error.status < 500) return { error };
        throw error;
      }
    };
    const answer = await fill(result, load, shown, { signal, lines: 6 });
    if (answer && !answer.error) announce(`${answer.score_name}: ${score(answer.score)}`);
  }

  function shown(answer) {
    if (answer.error) {
      last?.setAttribute("data-stale", "");
      return [failed(plainly(answer.error)), last];
    }
    last = explanation(answer, ["a", "b"].map((name) => state[name].id ?? NAMES[name]));
    // While the user types, the texts matter more than the drawing, which may be long.
    const above = [compareFacts(answer), last.querySelector(".aligned")].filter(Boolean);
    last.querySelector(".explanation-line").after(...above);
    return last;
  }

  function beginning(empty) {
    if (state.missing) {
      return panel("The texts are not available", "They were too long for a link, so only the tab in which they were written has them.", [
        link("Start over", "/compare", { class: "button primary" }),
      ]);
    }
    if (empty.length === 1) return el("p", { class: "hint" }, `Enter the ${empty[0] === "a" ? "first" : "second"} text too.`);
    return examples();
  }

  function chooseMeasure() {
    const chosen = stats.measures.find((one) => one.name === state.ranking);
    renew(
      measure,
      rankingSelect(stats.measures, state.ranking, (ranking) => {
        remember();
        go(writeTexts({ ...state, ranking }, MEASURE));
      }, { "aria-label": "Measure" }),
      el("p", { class: "hint" }, chosen?.description ?? ""),
    );
  }

  const update = async (next) => {
    later.cancel();
    state = readTexts(next, MEASURE);
    for (const [name, side] of Object.entries(sides)) side.show(state[name], signal);
    const compared = compare();
    try {
      stats = await collection({ signal });
      chooseMeasure();
    } catch (error) {
      if (!signal.aborted) replace(measure, el("p", { class: "hint" }, error.message));
    }
    return compared;
  };
  update(params);
  return update;
}

function examples() {
  return el(
    "section",
    { class: "compare-examples" },
    el("h2", {}, "Enter two texts, or start with an example"),
    el("ul", { class: "example-list" }, EXAMPLES.map((one) => el("li", {}, link(
      [el("strong", {}, one.title), el("span", { class: "muted" }, ` ${one.note}`),
        el("span", { class: "example-text" }, one.a), el("span", { class: "example-text" }, one.b)],
      address("/compare", { a: one.a, b: one.b }),
      { class: "example" },
    )))),
  );
}

/** One of the two texts: typed here, or a document of the collection until the user changes it. */
class Side {
  constructor(name, { edited, settled, leave }) {
    this.name = name;
    this.leave = leave;
    this.origin = el("span", { class: "compare-origin" });
    this.area = el("textarea", {
      class: "textarea compare-text", rows: 5, dir: "auto", spellcheck: "false", "aria-label": NAMES[name],
      on: { input: () => edited(name, this.area.value), change: settled },
    });
    this.picker = el("details", { class: "compare-picker", on: { toggle: () => this.#open() } },
      el("summary", {}, "From the collection"));
    this.element = el("section", { class: "compare-side" },
      el("div", { class: "row spread" }, el("h2", {}, NAMES[name]), this.origin),
      this.area,
      this.picker);
  }

  label(part) {
    this.part = part; // a document that is still loading must not replace typed text
    const { id } = part;
    replace(this.origin, id !== null && link(el("bdi", { class: "mono" }, id), address("/document", { id })));
  }

  async show(part, signal) {
    this.signal = signal;
    this.picker.open = false;
    this.label(part);
    if (part.id === null) {
      if (this.area.value !== part.text) this.area.value = part.text;
      return;
    }
    this.area.value = "";
    this.area.placeholder = "Loading …";
    try {
      const { text } = await get("/document", { id: part.id }, { signal });
      if (this.part === part) this.area.value = text;
    } catch {
      // The comparison shows the error of the document.
    }
    this.area.placeholder = "";
  }

  #open() {
    if (!this.picker.open || this.picker.querySelector(".picker")) return;
    this.picker.append(documentPicker((id) => this.leave(this.name, { id, text: null }), { signal: this.signal }));
  }
}
