// Parsing of filter texts: conditions that can be chosen by clicks, and the rest.

const TOKEN = /\s*(?:(==|!=|<>|<=|>=|=|<|>)|([(),])|("(?:[^"\\]|\\.)*")|('(?:[^'\\]|\\.)*')|([^\s()=!<>,"'{}]+))/suy;
const KEYWORDS = new Set(["and", "or", "not", "in", "exists"]);
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const BARE = /^[^\s()=!<>,"'{}\p{C}]+$/u;

/**
 * Split a filter: `chosen` maps fields to lists of values (`field = v`, `field in (v, w)`, joined by
 * "and"), `ranges` maps fields to bounds, `rest` is the text of all other conditions. Joined, they
 * are equivalent.
 *
 * `types` maps the fields that can have bounds to "number", "date", or "time". Bounds are
 * `{ low, high }`, both inclusive, null if there is none. The bounds of times are days: `high` is
 * written as "before the next day", because the text "2020-12-31T10:00" follows "2020-12-31".
 */
export function split(where, types = new Map()) {
  const chosen = new Map();
  const ranges = new Map();
  const text = (where ?? "").trim();
  const clauses = text.startsWith("{") ? null : clausesOf(text);
  if (!clauses) return { chosen, ranges, rest: text };
  const others = [];
  for (const { tokens, source } of clauses) {
    const choice = choiceOf(tokens);
    const bound = boundOf(tokens, types);
    const range = bound && { low: null, high: null, ...ranges.get(bound.field) };
    if (choice && !chosen.has(choice.field)) chosen.set(choice.field, choice.values);
    else if (bound && range[bound.side] === null) ranges.set(bound.field, { ...range, [bound.side]: bound.value });
    else others.push(source);
  }
  return { chosen, ranges, rest: others.join(" and ") };
}

export function join(chosen, rest, ranges = new Map(), types = new Map()) {
  const parts = [];
  for (const [field, values] of chosen) {
    if (values.length === 1) parts.push(`${word(field)} = ${word(values[0])}`);
    else if (values.length > 1) parts.push(`${word(field)} in (${values.map(word).join(", ")})`);
  }
  for (const [field, range] of ranges) parts.push(rangeText(field, range, types.get(field)));
  const other = rest.trim();
  if (!other) return parts.join(" and ");
  if (parts.length === 0) return other;
  return `${parts.join(" and ")} and ${/\bor\b/i.test(other) && !enclosed(other) ? `(${other})` : other}`;
}

/** Return the conditions of a range: `year >= 2010 and year <= 2015`. */
export function rangeText(field, { low, high }, type) {
  return [
    low !== null && `${word(field)} >= ${word(low)}`,
    high !== null && (type === "time" ? `${word(field)} < ${word(nextDay(high, 1))}` : `${word(field)} <= ${word(high)}`),
  ].filter(Boolean).join(" and ");
}

/** Return ranges with the bounds of a field set; without bounds, the field has no range. */
export function bounded(ranges, field, range) {
  const next = new Map(ranges);
  if (range.low === null && range.high === null) next.delete(field);
  else next.set(field, range);
  return next;
}

/** Add a value of a field to the chosen values, or remove it. */
export function toggled(chosen, field, value) {
  const next = new Map(chosen);
  const values = next.get(field) ?? [];
  const without = values.filter((one) => one !== value);
  const left = without.length < values.length ? without : [...values, value];
  if (left.length > 0) next.set(field, left);
  else next.delete(field);
  return next;
}

/** Return a name or a value in filter syntax. */
export function word(value) {
  if (typeof value !== "string") return JSON.stringify(value);
  const plain = BARE.test(value) && !NUMBER.test(value) && !KEYWORDS.has(value.toLowerCase())
    && !["null", "true", "false"].includes(value);
  return plain ? value : JSON.stringify(value);
}

// The conditions between the outermost "and", or null if there is an "or" or an error.
function clausesOf(text) {
  const tokens = tokensOf(text);
  if (!tokens) return null;
  const clauses = [];
  let from = 0;
  let depth = 0;
  tokens.forEach((token, at) => {
    if (token.text === "(" && token.kind === "mark") depth += 1;
    if (token.text === ")" && token.kind === "mark") depth -= 1;
    const joint = depth === 0 && token.kind === "word" ? token.text.toLowerCase() : "";
    if (joint === "or") depth = NaN;
    if (joint === "and") {
      clauses.push(tokens.slice(from, at));
      from = at + 1;
    }
  });
  if (depth !== 0) return null;
  if (tokens.length > 0) clauses.push(tokens.slice(from));
  if (clauses.some((clause) => clause.length === 0)) return null;
  return clauses.map((clause) => ({
    tokens: clause,
    source: text.slice(clause[0].start, clause.at(-1).end),
  }));
}

function tokensOf(text) {
  const tokens = [];
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) return text.slice(at).trim() === "" ? tokens : null;
    const kind = ["operator", "mark", "double", "single", "word"][found.slice(1).findIndex((part) => part !== undefined)];
    const part = found.slice(1).find((one) => one !== undefined);
    at = TOKEN.lastIndex;
    tokens.push({ kind, text: part, start: at - part.length, end: at });
  }
  return tokens;
}

function boundOf(tokens, types) {
  const [name, operator, last] = tokens;
  const field = name && valueOf(name, true);
  const type = types.get(field);
  if (type === undefined || tokens.length !== 3 || operator.kind !== "operator") return null;
  const value = valueOf(last);
  if (type === "number" ? typeof value !== "number" : !isDay(value)) return null;
  if (operator.text === ">=") return { field, side: "low", value };
  if (operator.text === "<=" && type !== "time") return { field, side: "high", value };
  if (operator.text === "<" && type === "time") return { field, side: "high", value: nextDay(value, -1) };
  return null;
}

function isDay(value) {
  const known = typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? Date.parse(`${value}T00:00Z`) : NaN;
  return !Number.isNaN(known) && nextDay(value, 0) === value; // February 30 is not a day
}

function nextDay(day, number) {
  const date = new Date(`${day}T00:00Z`);
  date.setUTCDate(date.getUTCDate() + number);
  return date.toISOString().slice(0, 10);
}

function choiceOf(tokens) {
  const [name, operator] = tokens;
  const field = name && valueOf(name, true);
  if (!operator || typeof field !== "string") return null;
  if (operator.kind === "operator" && ["=", "=="].includes(operator.text) && tokens.length === 3) {
    const value = valueOf(tokens[2]);
    return value === undefined ? null : { field, values: [value] };
  }
  const listed = operator.kind === "word" && operator.text.toLowerCase() === "in"
    && tokens[2]?.text === "(" && tokens.at(-1).text === ")" && tokens.length > 4;
  if (!listed) return null;
  const inside = tokens.slice(3, -1);
  const values = inside.filter((_, at) => at % 2 === 0).map((token) => valueOf(token));
  const commas = inside.filter((_, at) => at % 2 === 1).every((token) => token.text === ",");
  if (!commas || inside.length % 2 === 0 || values.includes(undefined)) return null;
  return { field, values };
}

function valueOf(token, name = false) {
  if (token.kind === "word") {
    if (KEYWORDS.has(token.text.toLowerCase())) return undefined;
    if (name) return token.text;
    if (NUMBER.test(token.text)) return Number(token.text);
    return { null: null, true: true, false: false }[token.text] ?? (token.text === "null" ? null : token.text);
  }
  if (token.kind === "double") return unquoted(token.text);
  if (token.kind === "single") {
    const inside = token.text.slice(1, -1).replace(/\\.|"/gsu, (found) => ({ "\\'": "'", '"': '\\"' })[found] ?? found);
    return unquoted(`"${inside}"`);
  }
  return undefined;
}

function unquoted(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function enclosed(text) {
  if (!text.startsWith("(")) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return at === text.length - 1;
  }
  return false;
}
