// Clusters as a list: typical words, the most central document, and a link to the map.

import { compute } from "../background.js";
import { el, isolate, link, replace } from "../dom.js";
import { counted, percent } from "../format.js";
import { COLOURS } from "../map_canvas.js";
import { sign } from "../map_legend.js";
import { SHAPES } from "../map_stamps.js";
import { CLUSTERS } from "../map_state.js";
import { numberSelect, renew, representationSelect, turns, wholeNumber } from "../overview_controls.js";
import { address, go } from "../router.js";
import { panel } from "../states.js";
import { wordBars } from "../word_bars.js";

export const title = "Clusters";

const WORDS = 8;

export function render(container, params, { signal }) {
  const bar = el("div", { class: "overview-bar" });
  const body = el("div", { class: "overview-place" });
  replace(container, el("h1", { class: "unseen" }, "Clusters"), bar, body);

  const turn = turns(signal);
  const update = (next) => {
    const representation = next.get("representation") || "tfidf";
    const n = wholeNumber(next.get("n"), CLUSTERS);
    const change = (part) => go(addressOf({ representation, n, ...part }));
    return compute(body, {
      title: "Finding clusters",
      what: "clusters",
      wanted: { found: ["/clusters", { representation, n }] },
      known: (stats) => renew(
        bar,
        representationSelect(stats, representation, (value) => change({ representation: value })),
        numberSelect("Clusters", n, (value) => change({ n: value })),
      ),
      show: ({ found }) => list(found, representation, n),
    }, { signal: turn() });
  };
  update(params);
  return update;
}

function addressOf({ representation, n }) {
  return address("/clusters", { representation: representation === "tfidf" ? null : representation, n: n === CLUSTERS ? null : n });
}

function list({ clusters, notes }, representation, n) {
  if (clusters.length === 0) return panel("No clusters", "No document has words to compare.");
  // The order, and so sign and color, is the same as in the map's legend.
  const ordered = [...clusters].sort((a, b) => b.size - a.size || a.number - b.number);
  const total = ordered.reduce((sum, one) => sum + one.size, 0);
  return [
    (notes ?? []).map((text) => el("p", { class: "notice" }, text)),
    el("ol", { class: "cards" }, ordered.map((cluster, at) => card(cluster, at, total, representation, n))),
  ];
}

function card(cluster, at, total, representation, n) {
  const look = { color: Math.min(at, COLOURS), shape: at < COLOURS ? at % SHAPES.length : 0 };
  const name = cluster.words.slice(0, 3).map((one) => one.word).join(" ") || `cluster ${cluster.number}`;
  const map = address("/map", { representation: representation === "tfidf" ? null : representation, clusters: n === CLUSTERS ? null : n, color: "cluster", show: cluster.number });
  return el(
    "li",
    { class: "card panel" },
    el("div", { class: "card-head" }, sign(look), el("h2", {}, isolate(name))),
    el("p", { class: "hint" }, `${counted(cluster.size, "document")}, ${percent(cluster.size / total)}`),
    wordBars(cluster.words.slice(0, WORDS), look.color),
    el("p", { class: "card-document" },
      el("span", { class: "hint" }, "Most central: "),
      link(isolate(cluster.central.start || cluster.central.id), address("/document", { id: cluster.central.id }), { dir: "auto", title: cluster.central.id })),
    el("div", { class: "row card-foot" }, link("Show on the map", map, { class: "button small" })),
  );
}
