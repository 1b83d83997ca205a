// What a link to a map says: what it is of, its colours, and what is picked, sought and chosen.

import { wholeNumber } from "./overview_controls.js";

export const MOST_IDS = 30; // of more the address has bits, which say less to those who read it

export const CLUSTERS = 8;

/** The state of an address; chosen documents that it has as bits (`many`) may be known from before. */
export function readState(params, before = null) {
  const many = params.get("chosen");
  const at = (params.get("at") ?? "").split(",").map(Number);
  return {
    by: params.get("by") || "tfidf",
    clusters: wholeNumber(params.get("clusters"), CLUSTERS),
    colour: params.get("colour"),
    show: params.getAll("show"),
    q: params.get("q") ?? "",
    ids: many !== null && many === before?.many ? before.ids : params.getAll("id"),
    many,
    at: at.length === 3 && at.every(Number.isFinite) ? at : null,
  };
}

export function writeState(state) {
  const params = new URLSearchParams();
  if (state.by !== "tfidf") params.set("by", state.by);
  if (state.clusters !== CLUSTERS) params.set("clusters", state.clusters);
  if (state.colour) params.set("colour", state.colour);
  for (const key of state.show) params.append("show", key);
  if (state.q) params.set("q", state.q);
  if (state.many) params.set("chosen", state.many);
  else if (state.ids.length <= MOST_IDS) for (const id of state.ids) params.append("id", id);
  if (state.at) params.set("at", state.at.map((value) => Number(value.toPrecision(5))).join(","));
  const text = params.toString();
  return text ? `/map?${text}` : "/map";
}
