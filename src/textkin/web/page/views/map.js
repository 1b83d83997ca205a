// Map of the collection: explore, select groups, search, and choose documents.

import { compute } from "../background.js";
import { button, debounced, el, replace } from "../dom.js";
import { MapPanel } from "../map_panel.js";
import { readState, writeState } from "../map_state.js";
import { numberSelect, renew, representationSelect, turns } from "../overview_controls.js";
import { go, note } from "../router.js";

export const title = "Map";

export function render(container, params, { signal }) {
  let state = readState(params);
  let panel = null;
  let loaded = "";
  const bar = el("div", { class: "overview-bar" });
  const body = el("div", { class: "map-body" });
  replace(container, el("h1", { class: "unseen" }, "Map"), bar, body);
  signal.addEventListener("abort", () => panel?.remove());

  // Moving the map replaces the URL; selections and searches get history entries.
  const noteView = debounced((at) => {
    if (!signal.aborted) note(writeState((state = { ...state, at })));
  }, 250);
  const chose = (ids, many) => note(writeState((state = { ...state, ids, many })));
  const change = (part) => {
    const target = writeState({ ...state, ...part });
    if (target !== location.pathname + location.search) go(target);
  };

  const turn = turns(signal);
  const start = () => {
    const { representation, clusters } = state;
    return compute(body, {
      title: "Computing the map",
      what: "a map",
      wanted: { map: ["/map", { representation, clusters }], clusters: ["/clusters", { representation, n: clusters }] },
      known: (stats) => renew(bar, toolbar(stats, state, change)),
      show: (answers, stats) => {
        panel = new MapPanel(answers.map, answers.clusters.clusters, { change, chose, moved: noteView, stats, signal });
        queueMicrotask(() => panel?.start(state)); // a canvas has a size only in the page
        return panel.element;
      },
    }, { signal: turn() });
  };

  const update = (next) => {
    noteView.cancel();
    state = readState(next, state);
    const key = `${state.representation} ${state.clusters}`;
    if (key !== loaded) {
      panel?.remove();
      panel = null;
      loaded = key;
      return start();
    }
    const box = bar.querySelector("input[type=search]");
    if (box) box.value = state.q;
    return panel?.apply(state);
  };
  update(params);
  return update;
}

function toolbar(stats, state, change) {
  // Groups and positions of one map have no meaning on another.
  const fresh = { show: [], at: null };
  const select = representationSelect(stats, state.representation, (value) => change({ representation: value, ...fresh }));
  const many = numberSelect("Clusters", state.clusters, (value) => change({ clusters: value, ...fresh }));
  const seek = el("input", {
    class: "input", type: "search", name: "q", placeholder: "Find on the map", "aria-label": "Find on the map",
    autocomplete: "off", dir: "auto", props: { value: state.q },
  });
  const form = el(
    "form",
    { class: "map-seek", role: "search", on: { submit: (event) => {
      event.preventDefault();
      change({ q: seek.value.trim(), ids: [], many: null });
    } } },
    seek,
    button("Find", null, { type: "submit" }),
  );
  // the clear button of the search box
  seek.addEventListener("search", () => { if (!seek.value) change({ q: "" }); });
  return [select, many, form];
}
