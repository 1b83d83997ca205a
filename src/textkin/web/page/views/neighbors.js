// Most similar documents by two measures, next to each other.

import { get, post } from "../api.js";
import { rankingSelect } from "../selects.js";
import { collection } from "../collection.js";
import { documentPicker, line, nameOf } from "../document_picker.js";
import { announce, el, freshId, isolate, link, replace, shape } from "../dom.js";
import { explanation } from "../explanation.js";
import { score, shortened } from "../format.js";
import { drawLines } from "../neighbor_lines.js";
import { renew } from "../overview_controls.js";
import { address, go } from "../router.js";
import { fill, panel } from "../states.js";

export function title(params) {
  return params.get("id") ? `Neighbors of ${shortened(params.get("id"), 40)}` : "Neighbors";
}

const K = 10;
const DEFAULTS = { left: "bm25", right: "wmd" };
const SIDES = ["left", "right"];

export function render(container, params, { signal }) {
  let view = null;
  const update = (next) => {
    const asked = read(next);
    if (view && asked.id === view.asked.id) return view.update(asked);
    view?.remove();
    view = null;
    return fill(container, (stop) => load(asked, stop), ([stats, document]) => {
      if (!document) return choose(stats, signal);
      view = new Neighbors(stats, document, asked, signal);
      // lines require the positions of the lists in the page
      queueMicrotask(() => view?.update(asked));
      return view.element;
    }, { signal, fresh: true });
  };
  signal.addEventListener("abort", () => view?.remove());
  update(params);
  return update;
}

function read(params) {
  const asked = { id: params.get("id"), why: params.get("why"), side: params.get("side") === "right" ? "right" : "left" };
  for (const side of SIDES) asked[side] = params.get(side) || DEFAULTS[side];
  return asked;
}

function write({ id, left, right, why, side }) {
  return address("/neighbors", {
    id,
    left: left === DEFAULTS.left ? null : left,
    right: right === DEFAULTS.right ? null : right,
    why,
    side: why && side === "right" ? side : null,
  });
}

async function load({ id }, signal) {
  const stats = await collection({ signal });
  return [stats, id === null ? null : await get("/document", { id }, { signal })];
}

function choose(stats, signal) {
  if (stats.documents === 0) {
    return panel("No documents yet", "The collection has no documents to compare.",
      stats.writable ? [link("Add documents", "/add", { class: "button primary" })] : []);
  }
  return el(
    "section",
    { class: "stack" },
    el("h1", {}, "Neighbors"),
    el("p", { class: "muted" }, "Choose a document to see its most similar documents by two measures."),
    documentPicker((id) => go(address("/neighbors", { id })), { signal }),
  );
}

function ordinal(number) {
  const teen = number % 100 > 10 && number % 100 < 14;
  return `${number}${(!teen && ["th", "st", "nd", "rd"][number % 10]) || "th"}`;
}

class Neighbors {
  constructor(stats, document, asked, signal) {
    Object.assign(this, { stats, document, asked, signal });
    this.answers = {};
    this.rows = {};
    this.lists = {};
    this.heads = {};
    this.room = shape("svg", { class: "neighbor-room", "aria-hidden": "true" });
    this.same = el("p", { class: "hint neighbor-same", role: "status" });
    this.why = el("div", { class: "neighbor-why" });
    for (const side of SIDES) {
      this.heads[side] = el("div", { class: "neighbor-head" });
      this.lists[side] = el("div", { class: "neighbor-list working" });
    }
    this.grid = el(
      "div",
      { class: "neighbor-grid" },
      SIDES.map((side, at) => [
        at === 1 && this.room,
        el("section", { class: "neighbor-side", data: { side } }, this.heads[side], this.lists[side]),
      ]),
    );
    this.element = el(
      "div",
      { class: "stack" },
      el("header", { class: "neighbor-of" },
        el("p", { class: "hint" }, "Neighbors of"),
        el("h1", {}, link(isolate(nameOf(document)), address("/document", { id: document.id }))),
        el("p", { class: "neighbor-text", dir: "auto" }, shortened(document.text, 260))),
      this.same,
      this.grid,
      this.why,
    );
    this.sizes = new ResizeObserver(() => this.#connect());
    this.sizes.observe(this.grid);
    for (const [event, on] of [["pointerover", true], ["pointerout", false], ["focusin", true], ["focusout", false]]) {
      this.grid.addEventListener(event, (given) => this.#light(given.target.closest("[data-key]")?.dataset.key, on));
    }
  }

  remove() {
    this.sizes.disconnect();
  }

  update(asked) {
    this.asked = asked;
    return Promise.all([...SIDES.map((side) => this.#fill(side)), this.#explain()]);
  }

  async #fill(side) {
    const ranking = this.asked[side];
    if (this.answers[side]?.ranking === ranking) return;
    renew(this.heads[side], rankingSelect(this.stats.rankings, ranking, (name) => go(write({ ...this.asked, [side]: name, why: null })),
      { "aria-label": `${side === "left" ? "Left" : "Right"} measure` }));
    delete this.answers[side];
    this.#connect();
    await fill(this.lists[side], (stop) => post("/similar", { id: this.document.id, ranking, k: K }, { signal: stop }), (found) => {
      this.answers[side] = { ranking, hits: found.hits };
      queueMicrotask(() => {
        this.#connect();
        this.#expanded(); // the explanation may have arrived before the list
      });
      return this.#list(side, found);
    }, { signal: this.signal });
  }

  #list(side, { hits, notes }) {
    this.rows[side] = new Map();
    if (hits.length === 0) return panel("No neighbors", notes?.[0] ?? "No other document is similar by this measure.");
    return [
      el("ol", { class: "neighbors" }, hits.map((hit) => {
        const name = freshId("neighbor");
        const row = el(
          "li",
          { class: "neighbor", data: { key: hit.id } },
          el("span", { class: "neighbor-rank" }, hit.rank),
          el("div", { class: "neighbor-body" },
            link(isolate(nameOf(hit)), address("/document", { id: hit.id }), { class: "neighbor-name", id: name }),
            el("p", { class: "neighbor-start", dir: "auto" }, line(hit)),
            el("div", { class: "neighbor-facts" },
              el("span", { class: "number" }, score(hit.score)),
              hit.label !== null && hit.label !== undefined && el("span", { class: "chip" }, isolate(String(hit.label))),
              el("span", { class: "neighbor-mark" }),
              el("button", {
                type: "button", class: "button quiet small neighbor-ask", "aria-expanded": "false",
                "aria-describedby": name, on: { click: () => this.#ask(hit.id, side) },
              }, "Why"))),
        );
        this.rows[side].set(hit.id, row);
        return row;
      })),
      (notes ?? []).map((text) => el("p", { class: "hint" }, text)),
    ];
  }

  /** Mark documents in one list only, and draw lines between documents in both. */
  #connect() {
    const { left, right } = this.answers;
    if (!left || !right) {
      replace(this.room);
      this.same.textContent = "";
      return;
    }
    const pairs = [];
    for (const side of SIDES) {
      const other = side === "left" ? "right" : "left";
      const ranks = new Map(this.answers[other].hits.map((hit) => [hit.id, hit.rank]));
      for (const [id, row] of this.rows[side]) {
        const rank = ranks.get(id);
        row.classList.toggle("alone", rank === undefined);
        row.querySelector(".neighbor-mark").textContent = rank === undefined ? "only here" : `also ${ordinal(rank)}`;
        if (side === "left" && rank !== undefined) pairs.push([row, this.rows.right.get(id), id]);
      }
    }
    drawLines(this.room, pairs);
    const most = Math.max(left.hits.length, right.hits.length);
    this.same.textContent = `${pairs.length} of ${most} are in both lists.`;
  }

  #light(key, on) {
    if (key === undefined) return;
    const name = CSS.escape(key);
    for (const found of this.grid.querySelectorAll(`[data-key="${name}"]`)) found.classList.toggle("lit", on);
  }

  #ask(id, side) {
    const open = this.asked.why === id && this.asked.side === side;
    go(write({ ...this.asked, why: open ? null : id, side }), { replace: true });
  }

  async #explain() {
    const { why, side } = this.asked;
    const ranking = this.asked[side];
    const key = why && `${side} ${ranking} ${why}`;
    this.#expanded();
    if (key === this.explained) return;
    this.explained = key;
    if (!why) {
      replace(this.why);
      return;
    }
    const name = this.stats.rankings.find((one) => one.name === ranking)?.title ?? ranking;
    const body = el("div", { class: "working" });
    replace(this.why, el("section", { class: "panel neighbor-reason", "aria-label": "Why" },
      el("h2", {}, "Why ", isolate(why, { class: "mono" }), ` is similar by ${name}`), body));
    const answer = await fill(body, (stop) => post("/explain", { id: this.document.id, document: why, ranking }, { signal: stop }),
      (found) => explanation(found, [this.document.id, why]), { signal: this.signal, lines: 6 });
    if (!answer) return;
    announce("The explanation is below the lists.");
    this.why.scrollIntoView({ block: "nearest" });
    this.#expanded();
  }

  #expanded() {
    for (const side of SIDES) {
      for (const [id, row] of this.rows[side] ?? []) {
        const open = this.asked.why === id && this.asked.side === side;
        row.querySelector(".neighbor-ask").setAttribute("aria-expanded", String(open));
      }
    }
  }
}
