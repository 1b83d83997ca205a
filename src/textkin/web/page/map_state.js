// State of a map in a URL: vectors, colors, and the picked, searched, and chosen items.

import { wholeNumber } from "./overview_controls.js";

export const MOST_IDS = 30; // with more, the URL has bits, which are less readable

export const CLUSTERS = 8;

/** Read the state of a URL; chosen documents that are stored as bits (`many`) may be known from before. */
export function readState(params, before = null) {
  const many = params.get("chosen");
  const at = (params.get("at") ?? "").split(",").map(Number);
  return {
    representation: params.get("representation") || "tfidf",
    clusters: wholeNumber(params.get("clusters"), CLUSTERS),
    color: params.get("color"),
    show: params.getAll("show"),
    q: params.get("q") ?? "",
    ids: many !== null && many === before?.many ? before.ids : params.getAll("id"),
    many,
    at: at.length === 3 && at.every(Number.isFinite) ? at : null,
  };
}

export function writeState(state) {
  const params = new URLSearchParams();
  if (state.representation !== "tfidf") params.set("representation", state.representation);
  if (state.clusters !== CLUSTERS) params.set("clusters", state.clusters);
  if (state.color) params.set("color", state.color);
  for (const key of state.show) params.append("show", key);
  if (state.q) params.set("q", state.q);
  if (state.many) params.set("chosen", state.many);
  else if (state.ids.length <= MOST_IDS) for (const id of state.ids) params.append("id", id);
  if (state.at) params.set("at", state.at.map((value) => Number(value.toPrecision(5))).join(","));
  const text = params.toString();
  return text ? `/map?${text}` : "/map";
}
