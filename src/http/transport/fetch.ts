import type { Fetch, FetchResponse } from "../../options/options.ts";
import { globalFetch } from "../../options/snapshot.ts";
import type { RawHeaders } from "../../runtime/headers.ts";
import { type ErrorLike, isErrorLike, sanitizedError } from "../sanitized-error.ts";
import { type HttpRequest, headersOf, type Transport } from "../types.ts";
import { Attempt, type AttemptLimits, type Carrier, type TransportLimits } from "./attempt.ts";

// What can only fail before the first byte: looking up the host, and checking its certificate.
const beforeSending =
  /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_\w+|CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/;

// Any other code may also come from an open connection, unless it says that connecting it was what failed.
const isBeforeSending = ({ code, syscall }: ErrorLike): boolean =>
  (typeof code === "string" && beforeSending.test(code)) ||
  syscall === "connect" ||
  syscall === "getaddrinfo";

const deepestCause = 8;

const innermost = (error: ErrorLike, depth = 0): ErrorLike =>
  isErrorLike(error.cause) && depth < deepestCause ? innermost(error.cause, depth + 1) : error;

/**
 * What the innermost error says. It is not kept itself: a fetch may hang the request on it, with the key in its
 * headers.
 * And a fetch may reject with anything, also with what throws when it is looked at.
 */
const causeOf = (error: unknown): { readonly cause: Error; readonly neverLeft: boolean } => {
  try {
    if (isErrorLike(error)) {
      const fault = innermost(error);
      return { cause: sanitizedError(fault), neverLeft: isBeforeSending(fault) };
    }
  } catch {
    // No Error either.
  }
  return { cause: new Error("the fetch rejected with something that is no Error"), neverLeft: false };
};

const rawHeaders = (headers: FetchResponse["headers"]): RawHeaders => {
  const { "content-encoding": coding, "content-length": length, ...rest } = Object.fromEntries(headers);
  // fetch has decompressed the body already; that there is none stays true.
  if (length === "0") return { ...rest, "content-length": length };
  if (coding === undefined) return rest;
  // A packed body that comes out empty may have been spoilt: the framing does not say that it is whole.
  const { "transfer-encoding": _framing, ...unframed } = rest;
  return unframed;
};

type Reader = ReturnType<NonNullable<FetchResponse["body"]>["getReader"]>;

/** One fetch for one attempt. */
class FetchAttempt implements Carrier {
  readonly #attempt: Attempt;
  readonly #fetch: Fetch;
  readonly #abort = new AbortController();
  #reader: Reader | undefined;

  constructor(attempt: Attempt, fetch: Fetch) {
    this.#attempt = attempt;
    this.#fetch = fetch;
    attempt.carrier = this;
  }

  drop(reason: Error): void {
    this.#abort.abort(reason);
    // A stream that cannot be cancelled is given up all the same.
    this.#reader?.cancel(reason).catch(() => undefined);
  }

  async run(request: HttpRequest, url: string): Promise<void> {
    const attempt = this.#attempt;
    const fetch = this.#fetch;
    const { method, body } = request;
    attempt.wasSent = true;
    let hasAnswer = false;
    try {
      const response = await fetch(url, {
        method,
        headers: headersOf(request),
        ...(body === undefined ? {} : { body }),
        redirect: "manual",
        signal: this.#abort.signal,
      });
      hasAnswer = true;
      // A browser hides the status of a redirect that it must not follow.
      const status = response.type === "opaqueredirect" ? 302 : response.status;
      // `Response.error()`: a fetch's way to answer that there is no answer.
      if (status === 0) throw new Error("the fetch answered with a network error");
      if (attempt.head(status, rawHeaders(response.headers))) await this.#read(response);
      else await response.body?.cancel();
    } catch (error) {
      const { cause, neverLeft } = causeOf(error);
      // An answer that has begun proves that the request left, whatever broke it off. And a fetch of the caller's may
      // have tried more than once: that its last try was refused says nothing of those before.
      if (!hasAnswer && neverLeft && fetch === globalFetch) attempt.wasSent = false;
      attempt.lost(cause);
    }
  }

  async #read(response: FetchResponse): Promise<void> {
    const reader = response.body?.getReader();
    this.#reader = reader;
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
      if (piece.value !== undefined && !this.#attempt.chunk(piece.value)) return;
    }
    this.#attempt.end();
  }
}

/** Sends through a fetch of the caller's. */
export const fetchTransport = (origin: string, fetch: Fetch, limits: TransportLimits): Transport => {
  const attempts: AttemptLimits = { ...limits, host: new URL(origin).host };
  return {
    send: (request) =>
      new Promise(function sendOverFetch(resolve, reject) {
        const attempt = new Attempt(request, attempts, { resolve, reject });
        if (!attempt.hasEnded) void new FetchAttempt(attempt, fetch).run(request, origin + request.path);
      }),
    // A fetch's connections are its owner's; the calls under way have ended by their own signals.
    close: async () => undefined,
  };
};
