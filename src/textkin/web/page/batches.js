// Sending documents in batches within the limits of the server.

import { post, put } from "./api.js";

const ROOM = 2000; // bytes of a body that are not documents

/** Split a list of documents into batches within the limits of the server. */
export function batches(documents, limits) {
  // small batches, so that the progress is visible
  const most = Math.min(limits.documents ?? 1000, 200);
  const bytes = (limits.body ?? 2_000_000) - ROOM;
  const encoder = new TextEncoder();
  const found = [];
  let batch = [];
  let size = 0;
  for (const document of documents) {
    const own = encoder.encode(JSON.stringify(document)).length + 1;
    if (batch.length > 0 && (batch.length === most || size + own > bytes)) {
      found.push(batch);
      batch = [];
      size = 0;
    }
    batch.push(document);
    size += own;
  }
  if (batch.length > 0) found.push(batch);
  return found;
}

/**
 * Send documents: as new documents, or with `replace`, replacing documents with the same ID.
 * Calls `progress(done)` after each batch; after an error, earlier batches stay added.
 */
export async function send(documents, limits, { token, replace = false, progress, signal }) {
  let done = 0;
  const ids = [];
  if (replace) {
    for (const { id, text, label = null, metadata = {} } of documents) {
      await put("/document", { id }, { text, label, metadata }, { token, signal });
      ids.push(id);
      done += 1;
      progress(done);
    }
    return ids;
  }
  for (const batch of batches(documents, limits)) {
    const answer = await post("/documents", { documents: batch }, { token, signal });
    ids.push(...answer.ids);
    done += batch.length;
    progress(done);
  }
  return ids;
}
