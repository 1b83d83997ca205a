// Why two texts have no distance, in words for those who wrote them.

import { ApiError } from "./api.js";

const TEXTS = { a: "The first text", b: "The second text" };

/** The server's words are for programmers, who can load other vectors; a visitor can write others. */
export function plainly(error) {
  if (error.code !== "wordless" || !error.unknown) return error;
  const said = Object.entries(error.unknown).map(([side, words]) => wordless(TEXTS[side] ?? side, words));
  return new ApiError("wordless", said.join(" "));
}

function wordless(text, unknown) {
  return unknown.length > 0
    ? `${text} has no word whose meaning is known here, only ${unknown.join(", ")}. Write other words, or choose a measure that compares spellings, such as TF-IDF.`
    : `${text} has no words but those that every text has, such as “the”. Write some more.`;
}
