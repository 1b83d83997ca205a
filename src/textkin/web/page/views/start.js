// Start page of the search: example queries, and facts about the collection.

import { write, read } from "../search_state.js";
import { collection, forget } from "../collection.js";
import { el, isolate, link } from "../dom.js";
import { counted, languageName, shortened, whole } from "../format.js";
import { fill } from "../states.js";
import { emptyCollection } from "./browse.js";

const FIELDS = 12; // maximum number of fields in the facts
const EVERYTHING = read(new URLSearchParams("all=1"));

/** Fill the results with the start page; returns the response of /stats, requested anew. */
export function startPage(results, { signal }) {
  forget();
  return fill(results, (stop) => collection({ signal: stop }), shown, { signal });
}

function shown(stats) {
  if (stats.documents === 0) return emptyCollection(stats);
  return el("div", { class: "start" },
    stats.examples.length > 0 && el("section", { class: "stack start-examples" },
      el("h2", {}, "Example queries"),
      el("ul", { class: "example-queries" }, stats.examples.map((query) => el("li", {},
        link(isolate(query), write({ ...read(new URLSearchParams()), q: query })))))),
    el("section", { class: "stack" },
      el("h2", {}, "Collection"),
      facts(stats),
      el("p", {}, link(`Show all ${counted(stats.documents, "document")}`, write(EVERYTHING), { class: "button" }))));
}

function facts(stats) {
  const names = stats.fields.slice(0, FIELDS).map((field) => field.name);
  const more = stats.fields.length - names.length;
  const pairs = [
    ["Documents", whole(stats.documents)],
    ["Distinct words", whole(stats.words)],
    ["Language", language(stats.settings)],
    names.length > 0 && ["Fields", [...names.map((name, at) => [at > 0 && ", ", isolate(shortened(name, 40))]), more > 0 && `, and ${whole(more)} more`]],
  ].filter(Boolean);
  return el("dl", { class: "start-facts" }, pairs.map(([name, content]) => el("div", {}, el("dt", {}, name), el("dd", {}, content))));
}

function language({ language: code, likely_language: likely, stemmer, normalizer }) {
  if (!code) return "None; words are compared as written";
  const stems = stemmer ? "; rankings by words compare stems" : normalizer ? "" : "; words are compared as written";
  return [`${languageName(code)}${stems}`,
    likely && el("p", { class: "notice" }, `Most texts seem to be in another language: ${languageName(likely)}. Create the index with this language for its stems.`)];
}
