// Requests to the server: responses as values, all failures as ApiError.

const PATIENCE = 45_000; // longer than the server's own limit, for a server that never responds

/**
 * Failure of a request, with a message for the user; `code` is the server's, or offline, slow, broken.
 * `unknown`: words without a vector, by text, if texts cannot be compared.
 */
export class ApiError extends Error {
  constructor(code, message, { status = 0, field = null, retryAfter = null, unknown = null } = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.field = field;
    this.retryAfter = retryAfter;
    this.unknown = unknown;
  }
}

/** Return true if the page canceled a request (a newer request replaced it). */
export function aborted(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

export function get(path, params = {}, options = {}) {
  const asked = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== "") asked.set(key, value);
  }
  const query = asked.toString();
  return request("GET", query ? `${path}?${query}` : path, null, options);
}

export function post(path, body, options = {}) {
  return request("POST", path, body, options);
}

export function put(path, params, body, options = {}) {
  return request("PUT", `${path}?${new URLSearchParams(params)}`, body, options);
}

export function remove(path, params, options = {}) {
  return request("DELETE", `${path}?${new URLSearchParams(params)}`, null, options);
}

/** Repeat a request while the response is 202; call `progress` with each such response. */
export async function poll(path, params, { signal, progress = () => {}, pause = 400 } = {}) {
  for (;;) {
    const answer = await get(path, params, { signal, whole: true });
    if (answer.status !== 202) return answer.content;
    progress(answer.content);
    await sleep(pause, signal);
    pause = Math.min(2000, pause * 1.3);
  }
}

async function request(method, path, body, { signal, token, whole = false } = {}) {
  const patience = AbortSignal.timeout(PATIENCE);
  const headers = { Accept: "application/json" };
  if (body !== null) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  let text;
  try {
    response = await fetch(`/api${path}`, {
      method,
      headers,
      body: body === null ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw new DOMException("given up", "AbortError");
    if (patience.aborted) {
      throw new ApiError("slow", `No response within ${PATIENCE / 1000} seconds.`);
    }
    throw new ApiError("offline", "The server stopped, or the connection was lost. Restart textkin serve.");
  }
  const content = parsed(text);
  if (!response.ok) throw failure(response, content);
  if (content === undefined) {
    throw new ApiError("broken", "The response is not JSON; a proxy between page and server may have changed it.");
  }
  return whole ? { status: response.status, content } : content;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failure(response, content) {
  const error = content?.error;
  const after = Number(response.headers.get("Retry-After"));
  return new ApiError(
    error?.code ?? "broken",
    error?.message ?? `The server responded with ${response.status} ${response.statusText}`.trim() + ".",
    { status: response.status, field: error?.field ?? null, retryAfter: after || null, unknown: error?.unknown ?? null },
  );
}

function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("given up", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
