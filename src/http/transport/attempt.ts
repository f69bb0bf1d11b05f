import { whenAborted } from "../../runtime/cancellation.ts";
import type { Cancel, Clock } from "../../runtime/clock.ts";
import { type RawHeaders, retryAfterMs } from "../../runtime/headers.ts";
import { findUnsafeNumber } from "../../runtime/unsafe-numbers.ts";
import { hasLongDigits } from "../../runtime/values.ts";
import { placeOf } from "../answerer.ts";
import type { HttpRequest, HttpResponse } from "../message.ts";
import { isErrorLike, sanitizedError } from "../sanitized-error.ts";
import { AttemptFailure, type Sending } from "../types.ts";
import { codingsOf, decompress } from "./body.ts";

export interface AttemptLimits {
  readonly maxResponseBytes: number;
  readonly clock: Pick<Clock, "after" | "now" | "wallTime">;
  /** The service's host and port, for error messages. */
  readonly host: string;
  /** Whether the library's own undici sends the attempt. Errors of other transports may contain the API key. */
  readonly isOwn?: boolean;
}

/** The limits that a transport gets. The transport itself adds the host. */
export interface TransportLimits extends Omit<AttemptLimits, "host" | "clock" | "isOwn"> {
  readonly clock: Clock;
}

/** Controls the transfer of an attempt: undici's controller, or the abort of a fetch. */
export interface Controller {
  /** Frees the socket or stream without reading the rest of the response. */
  abort(reason: Error): void;
}

/**
 * One attempt, from queueing its bytes to the last byte of the response. A single timer covers all of it. The attempt
 * is settled by whichever comes first: a complete response, a failure, the timer or an abort. undici uses it as a
 * handler and calls its `on…` methods; the fetch transport calls the same methods.
 */
export class Attempt {
  readonly request: HttpRequest;
  /** Whether any byte may have been sent. */
  wasSent = false;
  /** Whether the attempt is settled. */
  hasEnded = false;
  readonly #signal: AbortSignal | undefined;
  readonly #limits: AttemptLimits;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #dueAt: number;
  readonly #cancelTimer: Cancel;
  readonly #unlink: () => void;
  /** The start of the response. The status is 0 until it arrives. */
  #start: Pick<HttpResponse, "status" | "headers" | "retryAfterMs"> = { status: 0, headers: {} };
  #chunks: Uint8Array[] = [];
  /** The length of all chunks together. */
  #length = 0;
  #controller: Controller | undefined;

  constructor(
    { call: { signal } }: Sending,
    limits: AttemptLimits,
    settle: {
      readonly request: HttpRequest;
      readonly resolve: (response: HttpResponse) => void;
      readonly reject: (reason: unknown) => void;
    },
  ) {
    this.request = settle.request;
    this.#signal = signal;
    this.#limits = limits;
    this.#resolve = settle.resolve;
    this.#reject = settle.reject;
    const ms = settle.request.attemptTimeoutMs;
    this.#dueAt = limits.clock.now() + ms;
    // Bound methods, because arrow functions as fields let responses live longer: in `npm run bench:call`, garbage
    // collection then made a page a fifth dearer.
    this.#cancelTimer = limits.clock.after(ms, this.#onTimeUp.bind(this));
    this.#unlink = whenAborted(signal, this.#onAbort.bind(this));
    // The signal may have aborted before the listener was added.
    if (signal?.aborted) this.#onAbort();
  }

  /** Called when the attempt has a socket, directly before its first byte is sent. */
  onRequestStart(controller: Controller): void {
    if (this.request.admission?.mustWaitAgain)
      // A dispatcher that retries by itself starts the same attempt again. Its first try may have sent bytes, so don't
      // report the attempt as unsent.
      this.fail(
        this.wasSent ? "connection" : "requeued",
        "it has to wait for a limit again before it is sent",
      );
    // If the event loop was blocked for longer than `timeoutMs`, the timer is overdue and would cut off the request
    // right after it was sent. End the attempt before its first byte instead.
    if (this.#limits.clock.now() > this.#dueAt) this.#onTimeUp();
    if (this.hasEnded) {
      const reason = new Error("ended while waiting for a socket");
      // If this throws, undici's clients keep the socket for the next request.
      if (this.#limits.isOwn) throw reason;
      return controller.abort(reason);
    }
    this.#controller = controller;
    this.wasSent = true;
  }

  onRequestUpgrade(): void {
    this.fail("broken", "the service switched protocols");
  }

  /** Called when the status and the headers have arrived. */
  onResponseStart(_controller: unknown, status: number, headers: RawHeaders): void {
    // Ignore an informational response, because the actual response follows.
    if (status < 200) return;
    const waitMs = status < 400 ? undefined : retryAfterMs(headers, this.#limits.clock.wallTime());
    this.#start = { status, headers, retryAfterMs: waitMs };
    if (status >= 300 && status < 400) {
      this.fail("redirect", `status ${status}${placeOf(headers)}: the client never follows redirects`);
    } else if (Number(headers["content-length"]) > this.#limits.maxResponseBytes) {
      this.#tooLarge();
    }
  }

  /** Called when a chunk of the body has arrived. */
  onResponseData(_controller: unknown, chunk: Uint8Array): void {
    if (this.hasEnded) return;
    this.#length += chunk.byteLength;
    if (this.#length > this.#limits.maxResponseBytes) return this.#tooLarge();
    this.#chunks.push(chunk);
  }

  /** Called when the last byte has arrived. */
  onResponseEnd(): void {
    if (this.hasEnded) return;
    // The response arrived in time, even if decompressing it on another thread takes long.
    this.#cancelTimer();
    // A repeated header is an array. `String` joins its values to one list.
    const coding = this.#start.headers["content-encoding"];
    const [first] = this.#chunks;
    // Most bodies arrive in one chunk, which needs no copy.
    const bytes =
      first !== undefined && this.#chunks.length === 1
        ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
        : Buffer.concat(this.#chunks);
    const codings = coding === undefined || this.#length === 0 ? [] : codingsOf(String(coding));
    if (codings.length === 0) return this.#complete(bytes);
    decompress(bytes, codings, this.#limits.maxResponseBytes).then(
      (plain) => this.#complete(plain),
      (error: unknown) => this.#failToDecompress(error instanceof Error ? error : new Error(String(error))),
    );
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.lost(error);
  }

  /** Ends the attempt with its response. @param bytes - the decompressed body. */
  #complete(bytes: Buffer): void {
    if (this.hasEnded) return;
    this.#finish();
    const body = bytes.toString("utf8");
    // Remove a byte order mark, because JSON.parse refuses it.
    const text = body.charCodeAt(0) === 0xfeff ? body.slice(1) : body;
    let json: unknown;
    let isJson = false;
    // Parse the body as JSON, whatever the content type is.
    try {
      json = text === "" ? undefined : JSON.parse(text);
      isJson = text !== "";
    } catch {
      // The body is not JSON, so `isJson` stays false.
    }
    const unsafe = isJson && hasLongDigits(text) ? findUnsafeNumber(text) : undefined;
    // List each property: in Node 20, properties after a spread are slow (findings/node-20-spread-before-properties.sh).
    const { status, headers, retryAfterMs } = this.#start;
    this.#resolve({ status, headers, retryAfterMs, text: isJson ? "" : text, json, isJson, unsafe });
  }

  #failToDecompress(error: Error): void {
    if (isOverLimit(error)) this.#tooLarge();
    else this.fail("broken", error.message, error);
  }

  /** Ends the attempt before the complete response has arrived. */
  fail(kind: AttemptFailure["kind"], message: string, cause?: unknown): void {
    if (this.hasEnded) return;
    const { wasSent } = this;
    const controller = this.#controller;
    this.#finish();
    const { status } = this.#start;
    const response = status === 0 ? undefined : { ...this.#start, text: "", json: undefined, isJson: false };
    const failure = new AttemptFailure(kind, message, { wasSent, cause, ...(response && { response }) });
    // Accept an error response that was cut off. Its status and headers show what happened and how long to wait; only
    // the message is missing.
    if (response !== undefined && response.status >= 400 && kind !== "aborted") this.#resolve(response);
    else this.#reject(failure);
    controller?.abort(failure);
  }

  /** Ends the attempt before anything was sent, with an error that a retry cannot fix. */
  refuse(error: Error): void {
    this.#finish();
    this.#reject(error);
  }

  /** Called when the connection is lost. */
  lost(thrown: unknown): void {
    const original = isErrorLike(thrown) ? thrown : new Error(String(thrown));
    const error: Error & { readonly code?: unknown } = this.#limits.isOwn
      ? original
      : sanitizedError(original);
    if (isUnmocked(error)) {
      this.wasSent = false;
      return this.fail("unmocked", error.message, error);
    }
    const name = typeof error.code === "string" ? error.code : error.name;
    this.fail("connection", `${name}, ${this.#progress}`, error);
  }

  #onTimeUp(): void {
    this.fail("timeout", `${this.#progress} within timeoutMs, ${this.request.attemptTimeoutMs} ms`);
  }

  #onAbort(): void {
    this.fail("aborted", "aborted", this.#signal?.reason);
  }

  get #progress(): string {
    const { host } = this.#limits;
    if (!this.wasSent) return `no connection to ${host}`;
    if (this.#start.status === 0) return `no response from ${host}`;
    return `no complete response from ${host} (only status ${this.#start.status} and ${this.#length} bytes)`;
  }

  #tooLarge(): void {
    this.fail("too-large", `response longer than maxResponseBytes, ${this.#limits.maxResponseBytes}`);
  }

  #finish(): void {
    this.hasEnded = true;
    this.#cancelTimer();
    this.#unlink();
    this.#chunks = [];
    this.#controller = undefined;
  }
}

/** Recognizes how undici's MockAgent, MSW and nock refuse a request without a handler. */
const isUnmocked = ({ code, message }: Error & { readonly code?: unknown }): boolean =>
  code === "UND_MOCK_ERR_MOCK_NOT_MATCHED" || /^(\[MSW\]|Nock:) /.test(message);

/** Recognizes zlib's error for a body that exceeds `maxOutputLength`. */
const isOverLimit = (error: Error): boolean => "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
