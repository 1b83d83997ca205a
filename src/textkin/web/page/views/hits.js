// Hits: documents with score, explanation, and relevance marks.

import { post } from "../api.js";
import { markOf, subject } from "../search_state.js";
import { calm, el, freshId, isolate, link } from "../dom.js";
import { explanation } from "../explanation.js";
import { counted, nameOf, score, seconds, shortened, value, whole } from "../format.js";
import { address } from "../router.js";
import { fill } from "../states.js";

/** The list of hits; `act.mark(id, sign)` returns the new mark, `act.why(id, open)` stores it. */
export function hitList(asked, found, ranking, act) {
  const first = found.hits[0].rank;
  const last = found.hits.at(-1).rank;
  const scale = Math.max(...found.hits.map((hit) => Math.abs(hit.score)), Number.MIN_VALUE);
  const what = found.ascending ? "distance (lower is better)" : "score (higher is better)";
  return [
    el("div", { class: "row spread results-head" },
      el("h2", { tabindex: "-1" }, found.hits.length === 1 && !found.more ? "One result" : `Results ${whole(first)}–${whole(last)}`),
      el("p", { class: "hint" }, `${ranking.title}, ${what} · ${seconds(found.seconds)}`)),
    el("ol", { class: "hits", start: first }, found.hits.map((hit) => hitItem(asked, found, hit, scale, act))),
  ];
}

function hitItem(asked, found, hit, scale, act) {
  const name = hit.id;
  const headline = nameOf(name, hit.metadata);
  const heading = freshId("hit");
  const why = el("div", { class: "hit-why", id: freshId("why"), hidden: true });
  const item = el(
    "li",
    { class: "hit", data: { id: name } },
    el("div", { class: "hit-rank" }, el("span", {}, whole(hit.rank)), asked.rounds.length > 0 && moved(hit)),
    el("div", { class: "hit-main" },
      el("h3", { class: "hit-title", id: heading },
        link(isolate(shortened(headline, 120)), address("/document", { id: name })),
        hit.label !== null && el("span", { class: "chip hit-label" }, isolate(shortened(value(hit.label), 40)))),
      headline !== name && el("p", { class: "hint hit-id" }, isolate(shortened(name, 120))),
      el("p", { class: "snippet", dir: "auto" }, snippet(hit.snippet)),
      el("div", { class: "hit-foot" }, actions(asked, hit, why, heading, act), facts(hit))),
    el("div", { class: "hit-side" },
      el("span", { class: "hit-score" }, el("span", { class: "unseen" }, found.ascending ? "Distance " : "Score "), score(hit.score)),
      scoreBar(hit.score, scale, found.ascending),
      marks(asked, hit, heading, act)),
    why,
  );
  if (asked.why === name) item.querySelector("[aria-controls]").click();
  return item;
}

export function snippet(pieces) {
  if (pieces.length === 0) return el("span", { class: "muted" }, "No text.");
  return pieces.map((piece) => (piece.match ? el("mark", {}, piece.text) : piece.text));
}

function facts(hit) {
  const shown = Object.entries(hit.metadata)
    .filter(([name, content]) => name !== "title" && content !== null && typeof content !== "object")
    .slice(0, 4)
    .map(([name, content]) => el("span", {}, isolate(name), " ", isolate(shortened(value(content), 40), { class: "fact-value" })));
  return el("p", { class: "hit-facts" }, el("span", {}, counted(hit.length, "word")), shown);
}

function actions(asked, hit, why, heading, act) {
  const opener = el("button", {
    type: "button", class: "text-button", "aria-expanded": "false", "aria-controls": why.id,
    "aria-describedby": heading, on: { click: toggle },
  }, "Why");
  let asking = false;

  function toggle() {
    const open = opener.getAttribute("aria-expanded") !== "true";
    opener.setAttribute("aria-expanded", String(open));
    why.hidden = !open;
    act.why(hit.id, open);
    if (open && !asking) load();
  }

  async function load() {
    asking = true;
    const body = { ...subject(asked), document: hit.id, ranking: asked.ranking, rounds: asked.rounds };
    if (asked.where.trim()) body.where = asked.where;
    const title = asked.like ? asked.like : `“${shortened(asked.q, 60)}”`;
    const answer = await fill(why, (signal) => post("/explain", body, { signal }),
      (answer) => explanation(answer, [title, hit.id]), { signal: act.signal, lines: 6 });
    asking = answer !== null;
  }

  // distinguishes the ten links with the same name by their hits
  const of = { "aria-describedby": heading };
  return el("div", { class: "hit-actions" }, opener,
    link("Similar", address("/", { like: hit.id, ranking: asked.ranking === "bm25" ? "" : asked.ranking }), of),
    link("Neighbors", address("/neighbors", { id: hit.id }), of),
    !asked.like && link("Compare", address("/compare", { a: shortened(asked.q, 1000), b_id: hit.id }), of));
}

// ---------------------------------------------------------------- score bars

// A score is a bar; a distance is a line with a marked end.
function scoreBar(number, scale, ascending) {
  const part = Math.max(0, Math.min(1, Math.abs(number) / scale));
  const bar = el("span", { class: "score-mark" });
  bar.style.inlineSize = `${100 * part}%`;
  return el("span", { class: `score-bar ${ascending ? "distance" : number < 0 ? "below" : "length"}`, "aria-hidden": "true" }, bar);
}

// ---------------------------------------------------------------- feedback

function marks(asked, hit, heading, act) {
  const buttons = { "+": null, "-": null };
  for (const [sign, label] of [["+", "Relevant"], ["-", "Not relevant"]]) {
    const id = freshId("mark");
    buttons[sign] = el("button", {
      type: "button", class: `mark ${sign === "+" ? "fits" : "fits-not"}`, id,
      title: sign === "+" ? "Find more documents like this" : "Find fewer documents like this",
      "aria-describedby": heading, on: { click: () => press(act.mark(hit.id, sign)) },
    }, label);
  }
  press(markOf(asked.marks, hit.id));
  const before = asked.rounds.map((round) => markOf(round, hit.id)).findLast((sign) => sign !== null);
  return el("div", { class: "marks", role: "group", "aria-label": "Feedback" },
    before && el("span", { class: "hint", title: "Marked in an earlier round" }, before === "+" ? "relevant" : "not relevant"),
    buttons["+"], buttons["-"]);

  function press(now) {
    for (const sign of ["+", "-"]) buttons[sign].setAttribute("aria-pressed", String(now === sign));
  }
}

function moved(hit) {
  if (hit.was === null) return el("span", { class: "move new", title: "Not on this page before" }, "new");
  const steps = hit.was - hit.rank;
  if (steps === 0) return el("span", { class: "move", title: "Same rank as before" }, "=");
  const up = steps > 0;
  return el("span", { class: `move ${up ? "up" : "down"}`, title: `Rank ${hit.was} before` },
    el("span", { "aria-hidden": "true" }, up ? "▲" : "▼"),
    el("span", { class: "unseen" }, up ? "up" : "down"), ` ${Math.abs(steps)}`,
    el("span", { class: "unseen" }, `, was ${hit.was}`));
}

/** Return the present positions of the hits, as the start of an animation. */
export function places(results) {
  return new Map([...results.querySelectorAll(".hit")].map((hit) => [hit.dataset.id, hit.offsetTop]));
}

/** Move hits smoothly from their former positions; new hits fade in. No motion with reduced motion. */
export function slide(results, before) {
  if (calm() || before.size === 0) return;
  for (const hit of results.querySelectorAll(".hit")) {
    const from = before.get(hit.dataset.id);
    const frames = from === undefined
      ? [{ opacity: 0 }, { opacity: 1 }]
      : [{ transform: `translateY(${from - hit.offsetTop}px)` }, { transform: "none" }];
    hit.animate(frames, { duration: 420, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" });
  }
}
