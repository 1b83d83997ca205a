// Topics as a list: words, the documents with the largest share of each topic, and links to the
// map.

import { compute } from "../background.js";
import { el, isolate, link, replace } from "../dom.js";
import { percent } from "../format.js";
import { numberSelect, renew, turns, wholeNumber } from "../overview_controls.js";
import { address, go } from "../router.js";
import { panel } from "../states.js";
import { wordBars } from "../word_bars.js";

export const title = "Topics";

const TOPICS = 10;
const WORDS = 8;
const DOCUMENTS = 4;

export function render(container, params, { signal }) {
  const bar = el("div", { class: "overview-bar" });
  const body = el("div", { class: "overview-place" });
  replace(container, el("h1", { class: "unseen" }, "Topics"), bar, body);

  const turn = turns(signal);
  const update = (next) => {
    const n = wholeNumber(next.get("n"), TOPICS);
    return compute(body, {
      title: "Finding topics",
      what: "topics",
      wanted: { found: ["/topics", { n }] },
      known: () => renew(
        bar,
        numberSelect("Topics", n, (value) => go(address("/topics", { n: value === TOPICS ? null : value }))),
        el("p", { class: "hint" }, "A document can have several topics, and so can a word."),
      ),
      show: ({ found }) => list(found),
    }, { signal: turn() });
  };
  update(params);
  return update;
}

function list({ topics, notes }) {
  if (topics.length === 0) return panel("No topics", "No document has words to compute topics from.");
  const total = topics.reduce((sum, one) => sum + one.weight, 0) || 1;
  return [
    (notes ?? []).map((text) => el("p", { class: "notice" }, text)),
    el("ol", { class: "cards" }, topics.map((topic) => card(topic, topic.weight / total))),
  ];
}

function card(topic, share) {
  const name = topic.words.slice(0, 3).map((one) => one.word).join(" ") || `topic ${topic.number}`;
  const query = new URLSearchParams(topic.documents.map((one) => ["id", one.id]));
  return el(
    "li",
    { class: "card panel" },
    el("div", { class: "card-head" }, el("h2", {}, isolate(name))),
    el("p", { class: "hint" }, `${percent(share)} of all words`),
    wordBars(topic.words.slice(0, WORDS)),
    topic.documents.length > 0 && el("ul", { class: "card-documents" }, topic.documents.slice(0, DOCUMENTS).map((one) => el(
      "li",
      {},
      link(isolate(one.start || one.id), address("/document", { id: one.id }), { dir: "auto", title: one.id }),
      one.share !== null && one.share !== undefined && el("span", { class: "hint" }, percent(one.share)),
    ))),
    topic.documents.length > 0 && el("div", { class: "row card-foot" },
      link("Show its documents on the map", `/map?${query}`, { class: "button small" })),
  );
}
