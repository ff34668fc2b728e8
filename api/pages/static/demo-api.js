// The REST API as the page needs it: one request, its reply or an error that says what can be done about it.

const PATIENCE_MS = 20_000;

/** The server answered with a problem (RFC 9457). */
export class Problem extends Error {
  constructor(status, body, retryAfter) {
    super(body.detail || body.title || `status ${status}`);
    this.status = status;
    this.requestId = body.request_id;
    this.retryAfter = retryAfter;
  }
}

/** Nothing came back. Whether the request arrived is not known. */
export class Unreachable extends Error {}

/** `token`: of the session; `key`: the Idempotency-Key. */
export async function send(method, path, { body, token, key } = {}) {
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (key) headers["Idempotency-Key"] = `"${key}"`;
  if (body) headers["Content-Type"] = "application/json";
  let reply, content;
  try {
    reply = await fetch(path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    content = await read(reply);
  } catch (error) {
    throw new Unreachable(error.message);
  }
  if (reply.ok) return content;
  throw new Problem(reply.status, content, Number(reply.headers.get("Retry-After")) || null);
}

async function read(reply) {
  const type = reply.headers.get("Content-Type") ?? "";
  if (type.includes("json")) return reply.json();
  return reply.ok ? reply.blob() : {};
}

/** A random name for one attempt to answer, kept while it is retried. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
