// What is asked for, as a value: read from an address, and written into one.

import { address } from "./router.js";

export const PAGE = 10;

/** Read a search from the parameters of an address; what cannot be read counts as not there. */
export function read(params) {
  return {
    q: params.get("q") ?? "",
    like: params.get("like"),
    by: params.get("by") || "bm25",
    where: params.get("where") ?? "",
    threshold: number(params.get("threshold")),
    page: Math.max(1, Math.floor(number(params.get("page")) ?? 1)),
    rounds: list(params.get("rounds")).map(round).filter((one) => size(one) > 0),
    marks: round(list(params.get("marks"))),
    why: params.get("why"),
  };
}

export function write(asked) {
  return address("/", {
    q: asked.q,
    like: asked.like,
    by: asked.by === "bm25" ? "" : asked.by,
    where: asked.where,
    threshold: asked.threshold,
    rounds: asked.rounds.length > 0 ? JSON.stringify(asked.rounds.map(pair)) : "",
    marks: size(asked.marks) > 0 ? JSON.stringify(pair(asked.marks)) : "",
    page: asked.page > 1 ? asked.page : "",
    why: asked.why,
  });
}

/** Whether there is anything to look for, or only documents to leaf through. */
export function empty(asked) {
  return !asked.like && asked.q.trim() === "";
}

/** The route and the body that answer it. */
export function request(asked) {
  const body = { ...subject(asked), by: asked.by, k: PAGE, offset: (asked.page - 1) * PAGE };
  if (asked.where.trim()) body.where = asked.where;
  if (asked.threshold !== null) body.threshold = asked.threshold;
  if (asked.rounds.length > 0) return ["/feedback", { ...body, rounds: asked.rounds }];
  return [asked.like ? "/similar" : "/search", body];
}

/** What is looked for, as /explain and /feedback take it. */
export function subject(asked) {
  return asked.like ? { id: asked.like } : { query: asked.q };
}

export const NO_MARKS = { relevant: [], nonrelevant: [] };

export function size(marks) {
  return marks.relevant.length + marks.nonrelevant.length;
}

/** The mark of a document: "+", "-" or null. */
export function markOf(marks, id) {
  if (marks.relevant.includes(id)) return "+";
  return marks.nonrelevant.includes(id) ? "-" : null;
}

/** Marks with that of one document set, or taken away if it was the same. */
export function marked(marks, id, sign) {
  const relevant = marks.relevant.filter((one) => one !== id);
  const nonrelevant = marks.nonrelevant.filter((one) => one !== id);
  if (markOf(marks, id) !== sign) (sign === "+" ? relevant : nonrelevant).push(id);
  return { relevant, nonrelevant };
}

function pair(marks) {
  return [marks.relevant, marks.nonrelevant];
}

function round(content) {
  const [relevant, nonrelevant] = Array.isArray(content) ? content : [];
  return { relevant: ids(relevant), nonrelevant: ids(nonrelevant) };
}

function ids(content) {
  return Array.isArray(content) ? content.filter((one) => typeof one === "string" && one) : [];
}

function list(text) {
  try {
    const content = JSON.parse(text ?? "[]");
    return Array.isArray(content) ? content : [];
  } catch {
    return [];
  }
}

function number(text) {
  const found = text === null || text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(found) ? found : null;
}
