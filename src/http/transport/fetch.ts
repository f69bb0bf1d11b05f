import type { Fetch, FetchResponse } from "../../options/fetch.ts";
import { globalFetch } from "../../options/snapshot.ts";
import type { RawHeaders } from "../../runtime/headers.ts";
import { headersOf } from "../message.ts";
import { type ErrorLike, isErrorLike, sanitizedError } from "../sanitized-error.ts";
import type { Transport } from "../types.ts";
import { Attempt, type AttemptLimits, type TransportLimits } from "./attempt.ts";

// These only occur before the first byte is sent: looking up the host, connecting, and checking the certificate.
const beforeSending =
  /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_\w+|CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/;

// Any other code may also come from an open connection, unless its system call is part of connecting.
const isBeforeSending = ({ code, syscall }: ErrorLike): boolean =>
  (typeof code === "string" && beforeSending.test(code)) ||
  syscall === "connect" ||
  syscall === "getaddrinfo";

const deepestCause = 8;

const innermost = (error: ErrorLike, depth = 0): ErrorLike =>
  isErrorLike(error.cause) && depth < deepestCause ? innermost(error.cause, depth + 1) : error;

/**
 * A copy of the innermost error. The error itself is not kept, because a fetch may attach the request to it, with the key
 * in the headers. A fetch may also reject with any value, even with one that throws when it is read.
 */
const causeOf = (error: unknown): { readonly cause: Error; readonly neverLeft: boolean } => {
  try {
    if (isErrorLike(error)) {
      const fault = innermost(error);
      return { cause: sanitizedError(fault), neverLeft: isBeforeSending(fault) };
    }
  } catch {
    // Not an Error either.
  }
  return { cause: new Error("the fetch rejected with a value that is not an Error"), neverLeft: false };
};

const rawHeaders = (headers: FetchResponse["headers"]): RawHeaders => {
  const { "content-encoding": coding, "content-length": length, ...rest } = Object.fromEntries(headers);
  // fetch has already decompressed the body, so the length is wrong, except 0.
  if (length === "0") return { ...rest, "content-length": length };
  if (coding === undefined) return rest;
  // A compressed body that is empty after decompression may have been cut: the framing does not prove that it is whole.
  const { "transfer-encoding": _framing, ...unframed } = rest;
  return unframed;
};

/** Makes an attempt with fetch. */
const attemptOver = async (fetch: Fetch, attempt: Attempt, url: string): Promise<void> => {
  const { method, body } = attempt.request;
  const controller = new AbortController();
  let reader: ReturnType<NonNullable<FetchResponse["body"]>["getReader"]> | undefined;
  const abort = (reason: Error): void => {
    controller.abort(reason);
    // A stream that cannot be cancelled is abandoned too.
    reader?.cancel(reason).catch(() => undefined);
  };
  attempt.onRequestStart({ abort });
  if (attempt.hasEnded) return;
  let hasAnswer = false;
  try {
    const response = await fetch(url, {
      method,
      headers: headersOf(attempt.request),
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal: controller.signal,
    });
    hasAnswer = true;
    // A browser hides the status of a redirect that it must not follow.
    const status = response.type === "opaqueredirect" ? 302 : response.status;
    // `Response.error()` has status 0, and a stand-in for a response may have none.
    if (!(status >= 200)) throw new Error("the fetch returned a network error");
    attempt.onResponseStart(undefined, status, rawHeaders(response.headers));
    if (attempt.hasEnded) return void (await response.body?.cancel());
    reader = response.body?.getReader();
    let hasBody = false;
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
      hasBody ||= (piece.value?.length ?? 0) > 0;
      if (piece.value !== undefined) attempt.onResponseData(undefined, piece.value);
      if (attempt.hasEnded) return;
    }
    // Node's own fetch drops a damaged body at times, without an error.
    const { "content-encoding": coding, "content-length": length } = Object.fromEntries(response.headers);
    const isCoded = coding !== undefined && length !== "0";
    if (isCoded && !hasBody && status !== 204) attempt.fail("broken", "the body could not be decoded");
    else attempt.onResponseEnd();
  } catch (error) {
    const { cause, neverLeft } = causeOf(error);
    // A response that has started proves that the request was sent. The caller's fetch may have retried: that its last
    // try was refused says nothing about the earlier ones.
    if (!hasAnswer && neverLeft && fetch === globalFetch) attempt.wasSent = false;
    attempt.lost(cause);
  }
};

/** Sends with the caller's fetch. */
export const fetchTransport = (origin: string, fetch: Fetch, limits: TransportLimits): Transport => {
  const attempts: AttemptLimits = { ...limits, host: new URL(origin).host };
  return {
    send: (sending, request) =>
      new Promise(function sendOverFetch(resolve, reject) {
        const attempt = new Attempt(sending, attempts, { request, resolve, reject });
        if (!attempt.hasEnded) void attemptOver(fetch, attempt, origin + request.path);
      }),
    // The connections belong to the caller's fetch; the calls in flight were aborted by their own signals.
    close: async () => undefined,
  };
};
