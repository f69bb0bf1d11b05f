import { whenAborted } from "../../runtime/cancellation.ts";
import type { Cancel, Clock } from "../../runtime/clock.ts";
import type { ServiceTime } from "../service-time.ts";
import { AttemptFailure, type HttpRequest, type HttpResponse, headerOf, type RawHeaders } from "../types.ts";
import { BodyBytes, decodeBody } from "./body.ts";

export interface AttemptLimits {
  readonly maxResponseBytes: number;
  readonly clock: Clock;
  /** Named where nothing came of it: the service's host and port. */
  readonly host: string;
  /** Told the head of every answer. */
  readonly serviceTime?: ServiceTime | undefined;
}

/** What a transport is given; where it leads to it knows itself. */
export type TransportLimits = Omit<AttemptLimits, "host">;

/** What carries an attempt's bytes. */
export interface Carrier {
  /** Frees the socket or stream; nothing more of the answer is wanted. */
  drop(reason: Error): void;
}

/**
 * One attempt, from queueing its bytes to the last byte of the body: a single timer covers all of it, and the
 * first thing that ends it (answer, failure, timer, abort) settles it for good.
 */
export class Attempt {
  wasSent = false;
  readonly #request: HttpRequest;
  readonly #limits: AttemptLimits;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #cancelTimer: Cancel;
  readonly #unlink: () => void;
  #hasEnded = false;
  #status = 0;
  #headers: RawHeaders = {};
  #body = new BodyBytes();
  /** Set by the transport. An object and no closure: a closure here made V8 keep each answer for the next. */
  carrier: Carrier | undefined;

  constructor(
    request: HttpRequest,
    limits: AttemptLimits,
    settle: {
      readonly resolve: (response: HttpResponse) => void;
      readonly reject: (reason: unknown) => void;
    },
  ) {
    this.#request = request;
    this.#limits = limits;
    this.#resolve = settle.resolve;
    this.#reject = settle.reject;
    const ms = request.attemptTimeoutMs;
    this.#cancelTimer = limits.clock.after(ms, () =>
      this.fail("timeout", `${this.#progress} within timeoutMs, ${ms} ms`),
    );
    this.#unlink = whenAborted(request.signal, this.#onAbort);
    // It may have aborted while the request was on its way here; the event is past then.
    if (request.signal?.aborted) this.#onAbort();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Takes the head of the answer; false when the body is not wanted. */
  head(status: number, headers: RawHeaders): boolean {
    this.#status = status;
    this.#headers = headers;
    this.#limits.serviceTime?.note(headers);
    if (status >= 300 && status < 400) {
      this.fail("redirect", `status ${status}: redirects are never followed`);
    } else if (Number(headerOf(headers, "content-length")) > this.#limits.maxResponseBytes) {
      this.#tooLarge();
    }
    return !this.#hasEnded;
  }

  /** Takes a piece of the body; false when no more is wanted. */
  chunk(bytes: Uint8Array): boolean {
    if (this.#hasEnded) return false;
    if (this.#body.length + bytes.byteLength > this.#limits.maxResponseBytes) this.#tooLarge();
    else this.#body.add(bytes);
    return !this.#hasEnded;
  }

  /** The last byte has come. */
  end(): void {
    if (this.#hasEnded) return;
    // Unpacking takes its time on another thread: an answer that has arrived is not late any more.
    this.#cancelTimer();
    const coding = headerOf(this.#headers, "content-encoding");
    decodeBody(this.#body.joined(), coding, this.#limits.maxResponseBytes, (error, text) => {
      if (error !== undefined)
        return isOverCap(error) ? this.#tooLarge() : this.fail("broken", error.message, error);
      if (this.#hasEnded) return;
      this.#finish();
      this.#resolve(responseOf(this.#status, this.#headers, text));
    });
  }

  /** Ends the attempt before the whole answer has come. */
  fail(kind: AttemptFailure["kind"], message: string, cause?: unknown): void {
    if (this.#hasEnded) return;
    const { carrier, wasSent } = this;
    this.#finish();
    const partOfAnswer = this.#status === 0 ? {} : { response: responseOf(this.#status, this.#headers, "") };
    const failure = new AttemptFailure(kind, message, { wasSent, cause, ...partOfAnswer });
    // The head of an error has said what happened and for how long to wait; only the sentence is missing.
    if (this.#status >= 400 && kind !== "aborted") this.#resolve(responseOf(this.#status, this.#headers, ""));
    else this.#reject(failure);
    carrier?.drop(failure);
  }

  /** Whether it must not leave any more, although a socket is there now. */
  get isHeld(): boolean {
    return this.#request.isHeld?.() === true;
  }

  /** Ends it as if it had never begun. */
  giveBack(): void {
    this.fail("held", "the service asked to wait before there was a socket");
  }

  /** The connection is gone. */
  lost(error: Error & { readonly code?: unknown }): void {
    if (isUnmocked(error)) {
      this.wasSent = false;
      return this.fail("unmocked", error.message, error);
    }
    const name = typeof error.code === "string" ? error.code : error.name;
    this.fail("connection", `${name}, ${this.#progress}`, error);
  }

  readonly #onAbort = (): void => this.fail("aborted", "aborted", this.#request.signal?.reason);

  get #progress(): string {
    const { host } = this.#limits;
    if (!this.wasSent) return `no connection to ${host}`;
    if (this.#status === 0) return `no answer from ${host}`;
    return `no end of the answer after status ${this.#status} and ${this.#body.length} bytes`;
  }

  #tooLarge(): void {
    this.fail("too-large", `answer longer than maxResponseBytes, ${this.#limits.maxResponseBytes}`);
  }

  #finish(): void {
    this.#hasEnded = true;
    this.#cancelTimer();
    this.#unlink();
    this.#body = nothing;
    this.carrier = undefined;
  }
}

const nothing = new BodyBytes();

/** How undici's MockAgent, MSW and nock refuse what a test has no answer for. */
const isUnmocked = ({ code, message }: Error & { readonly code?: unknown }): boolean =>
  code === "UND_MOCK_ERR_MOCK_NOT_MATCHED" || /^(\[MSW\]|Nock:) /.test(message);

/** zlib's way to say that a body unpacks to more than it may. */
const isOverCap = (error: Error): boolean => "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

const responseOf = (status: number, headers: RawHeaders, text: string): HttpResponse => {
  // Read as JSON whatever the content type says; the status decides what becomes of it.
  try {
    if (text !== "") return { status, headers, text: "", json: JSON.parse(text), isJson: true };
  } catch {
    // Not JSON: told by isJson.
  }
  return { status, headers, text, json: undefined, isJson: false };
};
