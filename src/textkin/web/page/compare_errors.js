// Errors of comparisons in the language of visitors.

import { ApiError } from "./api.js";

const TEXTS = { a: "The first text", b: "The second text" };

/** The server's message is for programmers, who can load other vectors; a visitor can use other words. */
export function plainly(error) {
  if (error.code !== "wordless" || !error.unknown) return error;
  const said = Object.entries(error.unknown).map(([side, words]) => wordless(TEXTS[side] ?? side, words));
  return new ApiError("wordless", said.join(" "));
}

function wordless(text, unknown) {
  return unknown.length > 0
    ? `${text} has no known words, only ${unknown.join(", ")}. Use other words, or a measure that compares spellings, such as TF-IDF.`
    : `${text} has only stop words, such as “the”. Add other words.`;
}
