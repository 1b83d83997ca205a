// What a link to a map says: what it is of, its colours, and what is picked, sought and chosen.

const MOST_IDS = 30; // more would make an address that some programs cut

export const CLUSTERS = 8;

export function readState(params) {
  const at = (params.get("at") ?? "").split(",").map(Number);
  const clusters = Number(params.get("clusters"));
  return {
    by: params.get("by") || "tfidf",
    clusters: Number.isInteger(clusters) && clusters > 0 ? clusters : CLUSTERS,
    colour: params.get("colour"),
    show: params.getAll("show"),
    q: params.get("q") ?? "",
    ids: params.getAll("id"),
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
