// The map of the collection: one loads it, looks around, picks groups, seeks and chooses documents.

import { collection } from "../collection.js";
import { compute, tooFew } from "../computing.js";
import { button, debounced, el, replace } from "../dom.js";
import { MapPanel } from "../map_panel.js";
import { readState, writeState } from "../map_state.js";
import { numberSelect, representationSelect } from "../overview_controls.js";
import { go, note } from "../router.js";
import { fill } from "../states.js";

export const title = "Map";

export function render(container, params, { signal }) {
  let state = readState(params);
  let panel = null;
  let loaded = "";
  const bar = el("div", { class: "overview-bar" });
  const body = el("div", { class: "map-body" });
  replace(container, el("h1", { class: "unseen" }, "Map"), bar, body);
  signal.addEventListener("abort", () => panel?.remove());

  // A turn of the map replaces the address; what one picks or asks for can be gone back to.
  const noteView = debounced((at) => {
    if (!signal.aborted) note(writeState((state = { ...state, at })));
  }, 250);
  const chose = (ids) => note(writeState((state = { ...state, ids })));
  const change = (part, options) => go(writeState({ ...state, ...part }), options);

  const load = async (stop) => {
    const stats = await collection({ signal: stop });
    replace(bar, toolbar(stats, state, change));
    return stats;
  };
  const start = () => fill(body, load, (stats) => tooFew(stats, "a map") ?? el("div", { class: "map-place" }), { signal })
    .then((stats) => {
      const place = body.querySelector(".map-place");
      if (!stats || !place) return null;
      const { by, clusters } = state;
      const wanted = { map: ["/map", { by, clusters }], clusters: ["/clusters", { by, n: clusters }] };
      return compute(place, "Drawing the map", wanted, (answers) => {
        panel?.remove();
        panel = new MapPanel(answers.map, answers.clusters.clusters, { change, chose, moved: noteView, stats, signal });
        return panel.element;
      }, { signal }).then((answers) => answers && panel.start(state));
    });

  const update = (next) => {
    noteView.cancel();
    state = readState(next, state);
    const key = `${state.by} ${state.clusters}`;
    if (key !== loaded) {
      panel?.remove();
      panel = null;
      loaded = key;
      return start();
    }
    bar.querySelector("input[type=search]").value = state.q;
    return panel?.apply(state);
  };
  update(params);
  return update;
}

function toolbar(stats, state, change) {
  // Groups and places of one map mean nothing on another.
  const fresh = { show: [], at: null };
  const by = representationSelect(stats, state.by, (value) => change({ by: value, ...fresh }));
  const many = numberSelect("Clusters", state.clusters, (value) => change({ clusters: value, ...fresh }));
  const seek = el("input", {
    class: "input", type: "search", name: "q", placeholder: "Find on the map", "aria-label": "Find on the map",
    autocomplete: "off", dir: "auto", props: { value: state.q },
  });
  const form = el(
    "form",
    { class: "map-seek", role: "search", on: { submit: (event) => {
      event.preventDefault();
      change({ q: seek.value.trim(), ids: [] });
    } } },
    seek,
    button("Find", null, { type: "submit" }),
  );
  seek.addEventListener("search", () => { if (!seek.value && state.q) change({ q: "" }); });
  return [by, many, form];
}
