// Clusters as a list: words, the document in the middle, and the way to the map.

import { collection } from "../collection.js";
import { compute, tooFew } from "../computing.js";
import { el, isolate, link, replace } from "../dom.js";
import { counted, percent } from "../format.js";
import { COLOURS } from "../map_canvas.js";
import { sign } from "../map_legend.js";
import { SHAPES } from "../map_stamps.js";
import { CLUSTERS } from "../map_state.js";
import { numberSelect, representationSelect, wholeNumber } from "../overview_controls.js";
import { address, go } from "../router.js";
import { fill, panel } from "../states.js";
import { wordBars } from "../word_bars.js";

export const title = "Clusters";

const WORDS = 8;

export function render(container, params, { signal }) {
  const bar = el("div", { class: "overview-bar" });
  const body = el("div", {});
  replace(container, el("h1", { class: "unseen" }, "Clusters"), bar, body);

  const update = async (next) => {
    const by = next.get("by") || "tfidf";
    const n = wholeNumber(next.get("n"), CLUSTERS);
    const change = (part) => go(addressOf({ by, n, ...part }));
    const stats = await fill(body, (stop) => collection({ signal: stop }),
      (found) => tooFew(found, "clusters") ?? el("div", { class: "overview-place" }), { signal });
    const place = body.querySelector(".overview-place");
    if (!stats || !place) return;
    replace(bar, representationSelect(stats, by, (value) => change({ by: value })), numberSelect("Clusters", n, (value) => change({ n: value })));
    await compute(place, "Finding clusters", { found: ["/clusters", { by, n }] }, ({ found }) => list(found, by, n), { signal });
  };
  update(params);
  return update;
}

function addressOf({ by, n }) {
  return address("/clusters", { by: by === "tfidf" ? null : by, n: n === CLUSTERS ? null : n });
}

function list({ clusters, notes }, by, n) {
  if (clusters.length === 0) return panel("No clusters", "No document has words to compare it by.");
  // The order, and with it sign and colour, is that of the map's legend.
  const ordered = [...clusters].sort((a, b) => b.size - a.size || a.number - b.number);
  const total = ordered.reduce((sum, one) => sum + one.size, 0);
  return [
    (notes ?? []).map((text) => el("p", { class: "notice" }, text)),
    el("ol", { class: "cards" }, ordered.map((cluster, at) => card(cluster, at, total, by, n))),
  ];
}

function card(cluster, at, total, by, n) {
  const look = { colour: Math.min(at, COLOURS), shape: at < COLOURS ? at % SHAPES.length : 0 };
  const name = cluster.words.slice(0, 3).map((one) => one.word).join(" ") || `cluster ${cluster.number}`;
  const map = address("/map", { by: by === "tfidf" ? null : by, clusters: n === CLUSTERS ? null : n, colour: "cluster", show: cluster.number });
  return el(
    "li",
    { class: "card panel" },
    el("div", { class: "card-head" }, sign(look), el("h2", {}, isolate(name))),
    el("p", { class: "hint" }, `${counted(cluster.size, "document")}, ${percent(cluster.size / total)}`),
    wordBars(cluster.words.slice(0, WORDS), look.colour),
    el("p", { class: "card-document" },
      el("span", { class: "hint" }, "In the middle: "),
      link(isolate(cluster.central.start || cluster.central.id), address("/document", { id: cluster.central.id }), { dir: "auto" })),
    el("div", { class: "row card-foot" }, link("Show on the map", map, { class: "button small" })),
  );
}
