import type { Fetch } from "../options.ts";
import { Attempt, type AttemptLimits } from "./attempt.ts";
import type { HttpRequest, RawHeaders, Send } from "./types.ts";

// Faults of looking up, connecting and TLS come before the first byte of a request.
const beforeSending =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|EPROTO)$/;

const causeOf = (error: unknown): Error & { readonly code?: unknown } => {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? causeOf(error.cause) : error;
};

const rawHeaders = (headers: Headers): RawHeaders => Object.fromEntries(headers.entries());

const readBody = async (response: Response, attempt: Attempt): Promise<void> => {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
  if (reader !== undefined) {
    const drop = attempt.drop;
    attempt.drop = (reason) => {
      drop?.(reason);
      // A stream that cannot be cancelled is given up all the same.
      reader.cancel(reason).catch(() => undefined);
    };
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!attempt.chunk(value)) return;
    }
  }
  attempt.end();
};

const exchange = async (request: HttpRequest, url: string, fetch: Fetch, attempt: Attempt): Promise<void> => {
  const abort = new AbortController();
  attempt.drop = (reason) => abort.abort(reason);
  const { method, headers, body } = request;
  attempt.wasSent = true;
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal: abort.signal,
    });
    // A browser hides the status of a redirect that it was told not to follow.
    const status = response.type === "opaqueredirect" ? 302 : response.status;
    // fetch has decompressed the body already.
    const { "content-encoding": _coding, "content-length": _length, ...rest } = rawHeaders(response.headers);
    if (attempt.head(status, rest)) await readBody(response, attempt);
    else await response.body?.cancel();
  } catch (error) {
    const cause = causeOf(error);
    if (typeof cause.code === "string" && beforeSending.test(cause.code)) attempt.wasSent = false;
    attempt.lost(cause);
  }
};

/** Sends through a fetch, looked up at each call, so that a mock installed later is not missed. */
export const fetchTransport =
  (origin: string, lookUp: () => Fetch, limits: AttemptLimits): Send =>
  (request) =>
    new Promise((resolve, reject) => {
      const attempt = new Attempt(request, limits, { resolve, reject });
      if (!attempt.hasEnded) void exchange(request, origin + request.path, lookUp(), attempt);
    });
