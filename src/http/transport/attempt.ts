import { whenAborted } from "../../runtime/cancellation.ts";
import type { Cancel, Clock } from "../../runtime/clock.ts";
import { headerOf, type RawHeaders, type ServiceTime } from "../../runtime/headers.ts";
import type { HttpRequest, HttpResponse } from "../message.ts";
import type { Scope } from "../scope.ts";
import { AttemptFailure } from "../types.ts";

const toText = (bytes: Buffer): string => {
  const text = bytes.toString("utf8");
  // JSON.parse refuses a byte order mark.
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
};

const none = new Uint8Array(0);
const smallest = 4_096;

/** The bytes of a body. Chunks are copied into one buffer, because each separate chunk costs an extra hundred bytes. */
export class BodyBytes {
  length = 0;
  #bytes: Uint8Array = none;

  add(piece: Uint8Array): void {
    const length = this.length + piece.byteLength;
    // Most bodies arrive in one chunk, which is not copied.
    if (this.length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.byteLength) this.#grow(length);
      this.#bytes.set(piece, this.length);
    }
    this.length = length;
  }

  joined(): Buffer {
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.length);
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(least, 2 * this.#bytes.byteLength, smallest));
    larger.set(this.#bytes.subarray(0, this.length));
    this.#bytes = larger;
  }
}

/** The library does not request compression, but a service or proxy may compress anyway: gzip, deflate and br. */
const decompress = async (bytes: Buffer, codings: readonly string[], maxBytes: number): Promise<Buffer> => {
  const [zlib, { promisify }] = await Promise.all([import("node:zlib"), import("node:util")]);
  const decoders: Readonly<Record<string, (input: Buffer) => Promise<Buffer>>> = {
    gzip: (input) => promisify<Buffer, object, Buffer>(zlib.gunzip)(input, options),
    deflate: (input) => promisify<Buffer, object, Buffer>(zlib.inflate)(input, options),
    br: (input) => promisify<Buffer, object, Buffer>(zlib.brotliDecompress)(input, options),
  };
  // zlib stops at this length, so a decompression bomb never becomes a large buffer.
  const options = { maxOutputLength: maxBytes };
  let plain = bytes;
  for (const coding of [...codings].reverse()) {
    const decode = decoders[coding.replace(/^x-/, "")];
    if (decode === undefined) throw new Error(`content-encoding ${coding} is not known`);
    plain = await decode(plain);
  }
  return plain;
};

/** The codings of a body that have to be undone. */
const codingsOf = (contentEncoding: string): readonly string[] =>
  contentEncoding
    .toLowerCase()
    .trim()
    .split(/\s*,\s*/)
    .filter((name) => name !== "" && name !== "identity");

export interface AttemptLimits {
  readonly maxResponseBytes: number;
  readonly clock: Pick<Clock, "after">;
  /** The service's host and port, for error messages. */
  readonly host: string;
  /** Receives the headers of every response. */
  readonly serviceTime?: ServiceTime | undefined;
}

/** The limits that a transport gets; it knows its host itself. */
export interface TransportLimits extends Omit<AttemptLimits, "host" | "clock"> {
  readonly clock: Clock;
}

/** Transfers the bytes of an attempt. */
export interface Carrier {
  /** Frees the socket or stream; the rest of the response is not needed. */
  drop(reason: Error): void;
}

/**
 * One attempt, from queueing its bytes to the last byte of the body. A single timer covers all of it. Whatever ends it
 * first (response, failure, timer, abort) settles it.
 */
export class Attempt {
  wasSent = false;
  readonly #request: HttpRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #limits: AttemptLimits;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #cancelTimer: Cancel;
  readonly #unlink: () => void;
  /** Whether it is settled. */
  hasEnded = false;
  #status = 0;
  #headers: RawHeaders = {};
  #body = new BodyBytes();
  /** Set by the transport. An object instead of a closure: with a closure, V8 kept each response until the next. */
  carrier: Carrier | undefined;

  constructor(
    { signal }: Scope,
    limits: AttemptLimits,
    settle: {
      readonly request: HttpRequest;
      readonly resolve: (response: HttpResponse) => void;
      readonly reject: (reason: unknown) => void;
    },
  ) {
    this.#request = settle.request;
    this.#signal = signal;
    this.#limits = limits;
    this.#resolve = settle.resolve;
    this.#reject = settle.reject;
    const ms = settle.request.attemptTimeoutMs;
    this.#cancelTimer = limits.clock.after(ms, () =>
      this.fail("timeout", `${this.#progress} within timeoutMs, ${ms} ms`),
    );
    this.#unlink = whenAborted(signal, this.#onAbort);
    // The signal may have aborted before the listener was added.
    if (signal?.aborted) this.#onAbort();
  }

  /** Receives status and headers; false if the body is not needed. */
  head(status: number, headers: RawHeaders): boolean {
    this.#status = status;
    this.#headers = headers;
    this.#limits.serviceTime?.note(headers);
    if (status >= 300 && status < 400) {
      this.fail("redirect", `status ${status}: redirects are never followed`);
    } else if (Number(headerOf(headers, "content-length")) > this.#limits.maxResponseBytes) {
      this.#tooLarge();
    }
    return !this.hasEnded;
  }

  /** Receives a chunk of the body; false if no more is needed. */
  chunk(bytes: Uint8Array): boolean {
    if (this.hasEnded) return false;
    if (this.#body.length + bytes.byteLength > this.#limits.maxResponseBytes) this.#tooLarge();
    else this.#body.add(bytes);
    return !this.hasEnded;
  }

  /** The last byte has arrived. */
  end(): void {
    if (this.hasEnded) return;
    // A response that has arrived is not late, even if decompressing it on another thread takes long.
    this.#cancelTimer();
    const coding = headerOf(this.#headers, "content-encoding");
    const bytes = this.#body.joined();
    const codings = coding === undefined || bytes.byteLength === 0 ? [] : codingsOf(coding);
    if (codings.length === 0) return this.#answer(bytes);
    decompress(bytes, codings, this.#limits.maxResponseBytes).then(
      (plain) => this.#answer(plain),
      (error: unknown) => this.#undecodable(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #answer(bytes: Buffer): void {
    if (this.hasEnded) return;
    this.#finish();
    this.#resolve(responseOf(this.#status, this.#headers, toText(bytes)));
  }

  #undecodable(error: Error): void {
    if (isOverCap(error)) this.#tooLarge();
    else this.fail("broken", error.message, error);
  }

  /** Ends the attempt before the whole response has arrived. */
  fail(kind: AttemptFailure["kind"], message: string, cause?: unknown): void {
    if (this.hasEnded) return;
    const { carrier, wasSent } = this;
    this.#finish();
    const partOfAnswer = this.#status === 0 ? {} : { response: responseOf(this.#status, this.#headers, "") };
    const failure = new AttemptFailure(kind, message, { wasSent, cause, ...partOfAnswer });
    // Status and headers of an error already say what happened and how long to wait; only the message is missing.
    if (this.#status >= 400 && kind !== "aborted") this.#resolve(responseOf(this.#status, this.#headers, ""));
    else this.#reject(failure);
    carrier?.drop(failure);
  }

  /** Whether it must not be sent any more, although there is a socket now. */
  get isHeld(): boolean {
    return this.#request.admission?.isHeld === true;
  }

  /** Ends it as if it had never started. */
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

  readonly #onAbort = (): void => this.fail("aborted", "aborted", this.#signal?.reason);

  get #progress(): string {
    const { host } = this.#limits;
    if (!this.wasSent) return `no connection to ${host}`;
    if (this.#status === 0) return `no response from ${host}`;
    return `no end of the response after status ${this.#status} and ${this.#body.length} bytes`;
  }

  #tooLarge(): void {
    this.fail("too-large", `response longer than maxResponseBytes, ${this.#limits.maxResponseBytes}`);
  }

  #finish(): void {
    this.hasEnded = true;
    this.#cancelTimer();
    this.#unlink();
    this.#body = nothing;
    this.carrier = undefined;
  }
}

const nothing = new BodyBytes();

/** Recognizes how undici's MockAgent, MSW and nock refuse a request without a handler. */
const isUnmocked = ({ code, message }: Error & { readonly code?: unknown }): boolean =>
  code === "UND_MOCK_ERR_MOCK_NOT_MATCHED" || /^(\[MSW\]|Nock:) /.test(message);

/** Recognizes zlib's error for a body that exceeds `maxOutputLength`. */
const isOverCap = (error: Error): boolean => "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

const responseOf = (status: number, headers: RawHeaders, text: string): HttpResponse => {
  // Parsed as JSON whatever the content type says.
  try {
    if (text !== "") return { status, headers, text: "", json: JSON.parse(text), isJson: true };
  } catch {
    // Not JSON: `isJson` says so.
  }
  return { status, headers, text, json: undefined, isJson: false };
};
