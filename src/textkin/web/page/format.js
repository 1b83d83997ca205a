// Formatting of numbers and texts.

const WHOLE = new Intl.NumberFormat("en");

export function whole(number) {
  return WHOLE.format(number);
}

/** "1 document", "2,000 documents". */
export function counted(number, one, many = `${one}s`) {
  return `${whole(number)} ${number === 1 ? one : many}`;
}

/** A score with four significant digits: 0.1235, 12.35, 1,235. */
export function score(number) {
  if (number === null || number === undefined) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 10000 || size < 0.0005) return number.toExponential(2).replace("-", "−");
  return (size < 0.1 ? number.toFixed(4) : number.toPrecision(4)).replace("-", "−");
}

export function percent(share) {
  if (share === 0) return "0 %";
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  return `${value.toFixed(value < 9.95 ? 1 : 0).replace("-", "−")} %`;
}

export function bytes(number) {
  const units = ["bytes", "kB", "MB", "GB"];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit += 1;
  }
  return unit === 0 ? counted(number, "byte") : `${number.toFixed(number < 10 ? 1 : 0)} ${units[unit]}`;
}

export function seconds(number) {
  return number < 0.9995 ? `${Math.max(1, Math.round(number * 1000))} ms` : `${number.toFixed(1)} s`;
}

const LETTERS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Truncate a text after a number of visible letters, never within a letter. */
export function shortened(text, limit) {
  const one = text.replace(/\s+/g, " ").trim();
  if (one.length <= limit) return one;
  // A letter can have any number of combining marks, so the search is bounded too.
  const letters = [...LETTERS.segment(one.slice(0, 8 * limit))];
  if (letters.length <= limit && one.length <= 8 * limit) return one;
  return `${letters.slice(0, limit - 1).map((letter) => letter.segment).join("").trimEnd()}…`;
}

const LANGUAGES = new Intl.DisplayNames("en", { type: "language", fallback: "code" });

/** "English" for "en". */
export function languageName(code) {
  try {
    return LANGUAGES.of(code);
  } catch {
    return code; // not a code of the standard
  }
}

/** Return a metadata value on one line. */
export function value(content) {
  return typeof content === "string" ? content : JSON.stringify(content);
}

/** Return the name of a document: the title in its metadata, or its ID. */
export function nameOf(id, metadata) {
  const title = metadata.title;
  return typeof title === "string" && title.trim() ? title : id;
}
