// Groups of the points on a map, and their colors: the eight largest groups have a color.

import { COLOURS } from "./map_canvas.js";
import { SHAPES } from "./map_stamps.js";

const FEW = 6; // number of points that a name would cover

/**
 * map: a response of /api/map; clusters: a response of /api/clusters, or null; kind: "label" or "cluster".
 * Returns {of, groups}: of[i] is a position in groups or -1; groups are sorted by size, descending,
 * each {key, name, count, members, color, shape}; color `COLOURS` is gray.
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
      color: Math.min(at, COLOURS),
      shape: at < COLOURS ? at % SHAPES.length : 0,
    }));
  const of = new Int16Array(keys.length).fill(-1);
  groups.forEach((group, at) => group.members.forEach((i) => (of[i] = at)));
  return { of, groups };
}

/** Return the name of a cluster: its number, or its first words. */
export function clusterName(number, clusters, words = 3) {
  const cluster = clusters?.find((one) => one.number === number);
  const first = cluster?.words.slice(0, words).map((one) => one.word) ?? [];
  return first.length ? first.join(" ") : `cluster ${number}`;
}

/** Names on the map for the colored groups. */
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
