// Why two texts have no distance, in words for those who wrote them.

import { ApiError } from "./api.js";

const TEXTS = { a: "The first text", b: "The second text" };
const WORDLESS = /^Document ([ab]) cannot be compared: /;

/** The library advises programmers, who can load other vectors; a visitor can choose other words. */
export function plainly(error) {
  const side = error.code === "invalid" && error.message.match(WORDLESS)?.[1];
  if (!side) return error;
  const unknown = error.message.match(/not among the \d+ words: (.*?)\. /)?.[1];
  return new ApiError("wordless", unknown
    ? `${TEXTS[side]} has no word whose meaning is known here, only ${unknown}. Write other words, or choose a measure that compares spellings, such as TF-IDF.`
    : `${TEXTS[side]} has no words but those that every text has, such as “the”. Write some more.`);
}
