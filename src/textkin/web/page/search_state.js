// State of a search: read from a URL, and written to a URL.

import { address } from "./router.js";

export const PAGE = 10;

/** Read a search from the parameters of a URL; ignore invalid parameters. */
export function read(params) {
  return {
    q: params.get("q") ?? "",
    syntax: params.get("syntax") === "plain" ? "plain" : "auto", // whether operators in q are read
    like: params.get("like"),
    ranking: params.get("ranking") || "bm25",
    where: params.get("where") ?? "",
    threshold: number(params.get("threshold")),
    page: Math.max(1, Math.floor(number(params.get("page")) ?? 1)),
    rounds: list(params.get("rounds")).map(round).filter((one) => size(one) > 0),
    marks: round(list(params.get("marks"))),
    why: params.get("why"),
    all: params.has("all"), // list all documents, without a query
  };
}

export function write(asked) {
  return address("/", {
    q: asked.q,
    syntax: asked.syntax === "plain" ? "plain" : "",
    like: asked.like,
    ranking: asked.ranking === "bm25" ? "" : asked.ranking,
    where: asked.where,
    threshold: asked.threshold,
    rounds: asked.rounds.length > 0 ? JSON.stringify(asked.rounds.map(pair)) : "",
    marks: size(asked.marks) > 0 ? JSON.stringify(pair(asked.marks)) : "",
    page: asked.page > 1 ? asked.page : "",
    why: asked.why,
    all: asked.all && empty(asked) && "1",
  });
}

/** Return true if there is no query, so that the view lists documents, or shows the start page. */
export function empty(asked) {
  return !asked.like && asked.q.trim() === "";
}

/** Return true for the start page: no query, no filter, and no list of all documents. */
export function atStart(asked) {
  return empty(asked) && asked.where.trim() === "" && !asked.all && asked.page === 1;
}

/** Return the route and the body of the request. */
export function request(asked) {
  const body = { ...subject(asked), ranking: asked.ranking, k: PAGE, offset: (asked.page - 1) * PAGE };
  if (asked.where.trim()) body.where = asked.where;
  if (asked.threshold !== null) body.threshold = asked.threshold;
  if (asked.rounds.length > 0) return ["/feedback", { ...body, rounds: asked.rounds }];
  return [asked.like ? "/similar" : "/search", body];
}

/** Return the query as /explain and /feedback expect it. */
export function subject(asked) {
  if (asked.like) return { id: asked.like };
  return asked.syntax === "plain" ? { query: asked.q, syntax: "plain" } : { query: asked.q };
}

export const NO_MARKS = { relevant: [], nonrelevant: [] };

export function size(marks) {
  return marks.relevant.length + marks.nonrelevant.length;
}

/** Return the mark of a document: "+", "-" or null. */
export function markOf(marks, id) {
  if (marks.relevant.includes(id)) return "+";
  return marks.nonrelevant.includes(id) ? "-" : null;
}

/** Return marks with the mark of one document set, or removed if it was the same. */
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
