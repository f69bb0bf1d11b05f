import type { Fetch, FetchResponse } from "../../options/fetch.ts";
import { globalFetch } from "../../options/snapshot.ts";
import type { RawHeaders } from "../../runtime/headers.ts";
import { headersOf } from "../message.ts";
import { type ErrorLike, isErrorLike, sanitizedError } from "../sanitized-error.ts";
import type { Transport } from "../types.ts";
import { Attempt, type AttemptLimits, type TransportLimits } from "./attempt.ts";

// These errors occur only before the first byte is sent: host lookup, connecting, and checking the certificate.
const beforeSending =
  /^(ENOTFOUND|EAI_\w+|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_\w+|CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/;

// An error with any other code may be from an open connection, unless its system call is part of connecting.
const isBeforeSending = ({ code, syscall }: ErrorLike): boolean =>
  (typeof code === "string" && beforeSending.test(code)) ||
  syscall === "connect" ||
  syscall === "getaddrinfo";

const deepestCause = 8;

const innermost = (error: ErrorLike, depth = 0): ErrorLike =>
  isErrorLike(error.cause) && depth < deepestCause ? innermost(error.cause, depth + 1) : error;

/**
 * Copies the innermost cause of an error. The original is dropped, because a fetch may attach the request with the key
 * to it. A fetch may also reject with any value, even one that throws when it is read.
 */
const causeOf = (error: unknown): { readonly cause: Error; readonly wasNotSent: boolean } => {
  try {
    if (isErrorLike(error)) {
      const fault = innermost(error);
      return { cause: sanitizedError(fault), wasNotSent: isBeforeSending(fault) };
    }
  } catch {
    // The value is not an Error, or reading it throws.
  }
  return { cause: new Error("the fetch rejected with a value that is not an Error"), wasNotSent: false };
};

/** Leaves out the coding and the length of the body, because fetch has already decompressed it. */
const rawHeaders = (headers: FetchResponse["headers"]): RawHeaders => {
  const { "content-encoding": _coding, "content-length": _length, ...rest } = Object.fromEntries(headers);
  return rest;
};

type Body = NonNullable<FetchResponse["body"]>;

/** Reads the body of node-fetch: a stream of Node, which has no `getReader`. */
const readerOf = (body: AsyncIterable<Uint8Array>): ReturnType<Body["getReader"]> => {
  const pieces = body[Symbol.asyncIterator]();
  return {
    read: async () => {
      const { done = false, value } = await pieces.next();
      return { done, value };
    },
    cancel: async () => pieces.return?.(),
  };
};

/** Makes an attempt with fetch. */
const attemptOver = async (fetch: Fetch, attempt: Attempt, url: string): Promise<void> => {
  const { method, body } = attempt.request;
  const controller = new AbortController();
  let reader: ReturnType<Body["getReader"]> | undefined;
  const abort = (reason: Error): void => {
    controller.abort(reason);
    // Ignore a failure to cancel, because the stream is abandoned anyway.
    reader?.cancel(reason).catch(() => undefined);
  };
  attempt.onRequestStart({ abort });
  if (attempt.hasEnded) return;
  let hasResponse = false;
  try {
    const response = await fetch(url, {
      method,
      headers: headersOf(attempt.request),
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal: controller.signal,
    });
    hasResponse = true;
    // A browser hides the status of a redirect that it doesn't follow.
    const status = response.type === "opaqueredirect" ? 302 : response.status;
    // `Response.error()` has status 0, and a stand-in for a response may have none.
    if (!(status >= 200)) throw new Error("the fetch returned a network error");
    attempt.onResponseStart(undefined, status, rawHeaders(response.headers));
    const responseBody: Body | AsyncIterable<Uint8Array> | null = response.body;
    if (responseBody)
      reader = "getReader" in responseBody ? responseBody.getReader() : readerOf(responseBody);
    if (attempt.hasEnded) return void (await reader?.cancel());
    let hasBody = false;
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
      hasBody ||= (piece.value?.length ?? 0) > 0;
      if (piece.value !== undefined) attempt.onResponseData(undefined, piece.value);
      if (attempt.hasEnded) return;
    }
    // Node's fetch sometimes drops a damaged body without an error.
    const { "content-encoding": coding, "content-length": length } = Object.fromEntries(response.headers);
    const isCoded = coding !== undefined && length !== "0";
    if (isCoded && !hasBody && status !== 204) attempt.fail("broken", "the body could not be decoded");
    else attempt.onResponseEnd();
  } catch (error) {
    const { cause, wasNotSent } = causeOf(error);
    // A response proves that the request was sent. A caller's fetch may retry by itself, so a refused connection proves
    // nothing about its earlier tries.
    if (!hasResponse && wasNotSent && fetch === globalFetch) attempt.wasSent = false;
    attempt.lost(cause);
  }
};

/** Sends with any fetch. */
export const fetchTransport = (origin: string, fetch: Fetch, limits: TransportLimits): Transport => {
  const attempts: AttemptLimits = { ...limits, host: new URL(origin).host };
  return {
    send: (sending, request) =>
      new Promise(function sendOverFetch(resolve, reject) {
        const attempt = new Attempt(sending, attempts, { request, resolve, reject });
        if (!attempt.hasEnded) void attemptOver(fetch, attempt, origin + request.path);
      }),
    // There is nothing to close: the connections belong to the fetch, and the signals have aborted the calls in flight.
    close: async () => undefined,
  };
};
