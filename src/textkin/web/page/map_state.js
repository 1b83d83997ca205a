// What a link to a map says: what it is of, its colours, and what is picked, sought and chosen.

import { wholeNumber } from "./overview_controls.js";

const MOST_IDS = 30; // more would make an address that some programs cut

export const CLUSTERS = 8;

/** The state of an address; more chosen documents than it can name stay as they were before. */
export function readState(params, before = null) {
  const at = (params.get("at") ?? "").split(",").map(Number);
  return {
    by: params.get("by") || "tfidf",
    clusters: wholeNumber(params.get("clusters"), CLUSTERS),
    colour: params.get("colour"),
    show: params.getAll("show"),
    q: params.get("q") ?? "",
    ids: before && before.ids.length > MOST_IDS && !params.has("id") ? before.ids : params.getAll("id"),
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
  if (state.ids.length <= MOST_IDS) for (const id of state.ids) params.append("id", id);
  if (state.at) params.set("at", state.at.map((value) => Number(value.toPrecision(5))).join(","));
  const text = params.toString();
  return text ? `/map?${text}` : "/map";
}
