// Which group each point of a map is in, and how the groups look: the eight largest in colour.

import { COLOURS } from "./map_canvas.js";
import { SHAPES } from "./map_stamps.js";

const FEW = 6; // points that a name would cover

/**
 * map: an answer of /api/map; clusters: those of /api/clusters, or null; kind: "label" or "cluster".
 * Returns {of, groups}: of[i] is a position in groups or -1, groups are the largest first,
 * each {key, name, count, members, colour, shape}; colour COLOURS is grey.
 */
export function groupsOf(map, clusters, kind) {
  const keys = kind === "label" ? map.label : map.cluster;
  const members = new Map();
  keys.forEach((key, i) => {
    if (key < 0 || key === null) return;
    if (!members.has(key)) members.set(key, []);
    members.get(key).push(i);
  });
  const groups = [...members]
    .sort(([a, some], [b, others]) => others.length - some.length || a - b)
    .map(([key, inside], at) => ({
      key: kind === "label" ? map.labels[key] : key,
      name: kind === "label" ? map.labels[key] : clusterName(key, clusters),
      count: inside.length,
      members: inside,
      colour: Math.min(at, COLOURS),
      shape: at < COLOURS ? at % SHAPES.length : 0,
    }));
  const of = new Int16Array(keys.length).fill(-1);
  groups.forEach((group, at) => group.members.forEach((i) => (of[i] = at)));
  return { of, groups };
}

/** What to call a cluster: its number, and its first words. */
export function clusterName(number, clusters, words = 3) {
  const cluster = clusters?.find((one) => one.number === number);
  const first = cluster?.words.slice(0, words).map((one) => one.word) ?? [];
  return first.length ? first.join(" ") : `cluster ${number}`;
}

/** Names on the map for the groups in colour. */
export function labelsOf(points, groups, picked) {
  return groups.slice(0, COLOURS).map((group, at) => {
    const [x, y] = points.densest(group.members);
    return { text: short(group.name), x, y, muted: picked.size > 0 && !picked.has(at), few: group.members.length < FEW };
  });
}

function short(name) {
  const letters = [...name];
  return letters.length > 28 ? `${letters.slice(0, 27).join("")}…` : name;
}
