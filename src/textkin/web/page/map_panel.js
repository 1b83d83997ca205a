// Map with its surroundings: tooltip, zoom buttons, legend, and lists of documents.

import { aborted, post } from "./api.js";
import { announce, button, el, isolate, replace } from "./dom.js";
import { counted, whole } from "./format.js";
import { MapCanvas } from "./map_canvas.js";
import { packed, unpacked } from "./map_chosen.js";
import { zoomIn, zoomOut } from "./map_gestures.js";
import { groupsOf, labelsOf } from "./map_groups.js";
import { legend, shortens, sign } from "./map_legend.js";
import { longList, shortList } from "./map_lists.js";
import { Points } from "./map_points.js";
import { MOST_IDS } from "./map_state.js";
import { renew } from "./overview_controls.js";
import { failed } from "./states.js";

const KEYS =
  "Arrow keys: move between documents. Shift+arrow: move the map. Plus, minus: zoom. 0: show all. " +
  "Enter: choose. Space: add to the chosen documents. Escape: clear.";

export class MapPanel {
  /** map, clusters: responses of the server. change(part of the state), chose(ids), moved(at): callbacks. */
  constructor(map, clusters, { change, chose, moved, stats, signal }) {
    Object.assign(this, { map, change, chose, stats, signal });
    this.points = new Points(map.x, map.y);
    this.places = new Map(map.ids.map((id, i) => [id, i]));
    this.byLabel = map.labels.length > 0 ? groupsOf(map, clusters, "label") : null;
    this.byCluster = groupsOf(map, clusters, "cluster");
    this.found = null;
    this.sought = "";
    this.page = 0;
    this.allGroups = false;
    this.#build();
    this.canvas = new MapCanvas(this.stage, [this.buttons], {
      hover: (i) => this.#tip(i),
      focus: (i) => {
        this.#tip(i);
        announce(this.#describe(i));
      },
      choose: (points, add) => this.#choose(points, add),
      moved: () => {
        this.#tip(-1);
        const { x, y, zoom } = this.canvas.camera;
        moved(zoom === 1 ? null : [x, y, zoom]);
      },
    });
    const surface = this.canvas.front;
    surface.tabIndex = 0;
    surface.setAttribute("role", "application");
    surface.setAttribute("aria-label", `Map of ${counted(map.ids.length, "document")}. ${KEYS}`);
    this.stage.append(this.tip, this.buttons);
  }

  #build() {
    this.stage = el("div", { class: "map-stage" });
    this.tip = el("div", { class: "map-tip", hidden: true, "aria-hidden": "true" });
    this.buttons = el(
      "div",
      { class: "map-buttons" },
      button("+", () => zoomIn(this.canvas), { "aria-label": "Zoom in", title: "Zoom in" }),
      button("−", () => zoomOut(this.canvas), { "aria-label": "Zoom out", title: "Zoom out" }),
      button("Reset", () => this.canvas.reset(), { title: "Show all" }),
    );
    this.groupsPlace = el("section", { class: "map-groups", "aria-label": "Legend" });
    this.listPlace = el("div", { class: "map-listed" });
    this.all = el("div", { class: "map-all-rows" });
    this.details = el(
      "details",
      { class: "map-all", on: { toggle: () => this.#listAll() } },
      el("summary", {}, "List of documents"),
      this.all,
    );
    this.element = el(
      "div",
      { class: "map-panel" },
      el("div", { class: "map-grid" }, this.stage, el("aside", { class: "map-aside" }, this.groupsPlace, this.listPlace)),
      el("p", { class: "hint" },
        el("span", { class: "by-mouse" }, "Drag to move, use the wheel or pinch to zoom, press Shift and drag to choose a box."),
        el("span", { class: "by-touch" }, "Drag to move, pinch to zoom, tap a point to choose it."),
        (this.map.notes ?? []).map((note) => ` ${note}`)),
      el("p", { class: "hint map-keys", "aria-hidden": "true" }, KEYS),
      this.details,
    );
  }

  /** Called once the element is in the page. */
  start(state) {
    this.apply(state);
    if (state.at) this.canvas.camera.look(...state.at);
    else if (this.picked.size) this.canvas.visit([...this.picked].flatMap((at) => this.grouping.groups[at].members));
    else if (this.canvas.chosen.size) this.canvas.visit([...this.canvas.chosen]);
  }

  /** Show a state; the visible area stays. */
  apply(state) {
    this.kind = state.color === "label" || state.color === "cluster" ? state.color : this.byLabel ? "label" : "cluster";
    if (this.kind === "label" && !this.byLabel) this.kind = "cluster";
    this.grouping = this.kind === "label" ? this.byLabel : this.byCluster;
    const { groups, of } = this.grouping;
    const wanted = new Set(state.show);
    this.picked = new Set(groups.flatMap((group, at) => (wanted.has(String(group.key)) ? [at] : [])));
    this.canvas.show(this.points, of, groups, labelsOf(this.points, groups, this.picked));
    this.canvas.filter(Uint8Array.from(of, (at) => (this.picked.size === 0 || this.picked.has(at) ? 1 : 0)));
    const many = state.many !== null && state.ids.length === 0 ? unpacked(this.map, state.many) : undefined;
    this.canvas.choose(many ?? state.ids.flatMap((id) => this.places.get(id) ?? []));
    this.page = 0;
    this.#legend();
    this.#list();
    if (state.many !== null) this.#note(); // the chosen documents may be elsewhere on this map
    if (many === null) replace(this.listPlace, el("p", { class: "notice" }, "The documents in this link belong to an earlier version of the collection. Choose them again."));
    return this.#seek(state.q);
  }

  remove() {
    this.canvas.remove();
  }

  #legend() {
    const { groups } = this.grouping;
    const toggle = (at) => {
      const picked = new Set(this.picked);
      if (!picked.delete(at)) picked.add(at);
      this.change({ color: this.kind, show: [...picked].map((one) => String(groups[one].key)) });
      announce(picked.size ? `${counted(picked.size, "group")} shown` : "All groups shown");
    };
    renew(
      this.groupsPlace,
      this.byLabel && this.#kinds(),
      groups.length > 0 ? legend(groups, this.picked, toggle, this.allGroups) : el("p", { class: "hint" }, "No groups."),
      el("div", { class: "row" },
        shortens(groups) && button(this.allGroups ? "Fewer groups" : `All ${whole(groups.length)} groups`, () => {
          this.allGroups = !this.allGroups;
          this.#legend();
        }, { kind: "quiet small" }),
        this.picked.size > 0 && button("Clear filter", () => this.change({ show: [] }), { kind: "quiet small" })),
    );
  }

  #kinds() {
    const one = (kind, text) => el(
      "button",
      {
        type: "button",
        class: "segment",
        "aria-pressed": String(this.kind === kind),
        on: { click: () => this.kind !== kind && this.change({ color: kind, show: [] }) },
      },
      text,
    );
    return el("div", { class: "segments", role: "group", "aria-label": "Color by" }, one("label", "Labels"), one("cluster", "Clusters"));
  }

  #choose(points, add) {
    const chosen = add ? new Set(this.canvas.chosen) : new Set();
    for (const i of points) {
      if (add && points.length === 1 && chosen.has(i)) chosen.delete(i);
      else chosen.add(i);
    }
    if (chosen.size === 0 && this.canvas.chosen.size === 0) return;
    announce(`${counted(chosen.size, "document")} chosen`);
    this.canvas.choose(chosen);
    this.#list();
    this.#note();
  }

  #note() {
    const { chosen } = this.canvas;
    const many = chosen.size > MOST_IDS ? packed(this.map, [...chosen]) : null;
    this.chose([...chosen].map((i) => this.map.ids[i]), many);
  }

  #list() {
    const chosen = [...this.canvas.chosen];
    // Clearing a list removes its button, so the focus moves to the map.
    const clear = (how) => () => {
      how();
      this.canvas.front.focus({ preventScroll: true });
    };
    if (chosen.length > 0) {
      replace(this.listPlace, shortList(this.map, chosen, "chosen", clear(() => this.#choose([], false))));
    } else if (this.found) {
      replace(this.listPlace, shortList(this.map, this.foundOrder, "found", clear(() => this.change({ q: "" }))));
    } else replace(this.listPlace);
    this.#listAll();
  }

  #listAll() {
    if (!this.details.open) return;
    const { canvas, map, byLabel, byCluster } = this;
    const members = [];
    for (let i = 0; i < map.ids.length; i++) {
      if (canvas.active[i]) members.push(i);
    }
    const name = (grouping) => (i) => grouping.groups[grouping.of[i]]?.name ?? "";
    const columns = [["Cluster", name(byCluster)]];
    if (byLabel) columns.unshift(["Label", name(byLabel)]);
    columns.push(["ID", (i) => map.ids[i]]);
    replace(this.all, longList(map, members, columns, this.page, (page) => {
      this.page = page;
      this.#listAll();
    }));
  }

  async #seek(text) {
    if (text === this.sought) return;
    this.sought = text;
    if (!text) {
      this.found = null;
      this.canvas.highlight(null);
      this.#list();
      return;
    }
    try {
      const answer = await post("/search", { query: text, ranking: "bm25", k: this.stats.limits.k }, { signal: this.signal });
      if (this.sought !== text) return;
      this.foundOrder = answer.hits.flatMap((hit) => this.places.get(hit.id) ?? []);
      this.found = new Uint8Array(this.points.count);
      for (const i of this.foundOrder) this.found[i] = 1;
      this.canvas.highlight(this.found);
      announce(`${whole(this.foundOrder.length)}${answer.more ? " or more" : ""} found`);
      this.#list();
    } catch (error) {
      if (!aborted(error)) replace(this.listPlace, failed(error, () => {
        this.sought = "";
        this.#seek(text);
      }));
    }
  }

  #describe(i) {
    const { map, byLabel, byCluster } = this;
    const parts = [map.titles[i] || map.ids[i]];
    for (const grouping of [byLabel, byCluster]) {
      const group = grouping?.groups[grouping.of[i]];
      if (group) parts.push(group.name);
    }
    return parts.join(" · ");
  }

  #tip(i) {
    this.tip.hidden = i < 0;
    if (i < 0) return;
    const { map, byLabel, byCluster, canvas } = this;
    const line = (grouping) => {
      const group = grouping?.groups[grouping.of[i]];
      return group && el("div", { class: "map-tip-group" }, grouping === this.grouping && sign(group), isolate(group.name));
    };
    replace(this.tip, el("div", { class: "map-tip-title", dir: "auto" }, map.titles[i] || map.ids[i]),
      el("div", { class: "map-tip-id mono" }, isolate(map.ids[i])), line(byLabel), line(byCluster));
    const [px, py] = canvas.camera.toScreen(this.points.x[i], this.points.y[i]);
    const { width, height } = canvas.camera;
    const [wide, high] = [this.tip.offsetWidth, this.tip.offsetHeight];
    const left = px + 14 + wide < width ? px + 14 : Math.max(4, px - 14 - wide);
    const top = Math.min(Math.max(4, py - high / 2), Math.max(4, height - high - 4));
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${top}px`;
  }
}
