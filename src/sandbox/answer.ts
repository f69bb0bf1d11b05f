/** A request as both doors, `fetch` and `listen`, hand it to the sandbox. */
export interface Incoming {
  readonly method: string;
  /** The path and query, for instance `/api/v1/contacts?limit=10`. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How much of an answer reaches the caller, and how. */
type Delivery =
  | { readonly kind: "whole" }
  /** The connection breaks before any byte of the answer. */
  | { readonly kind: "reset" }
  /** No byte ever comes. */
  | { readonly kind: "stall" }
  /** Headers and a part of the body, then a break or silence. */
  | { readonly kind: "part"; readonly then: "reset" | "stall" }
  /** The body in small pieces. */
  | { readonly kind: "drip"; readonly everyMs: number }
  /** Everything, after which the kept-alive connection closes unannounced. */
  | { readonly kind: "close-after" }
  /** A 103 before the answer; only a real server can send one. */
  | { readonly kind: "early-hints" };

/** How the bytes of a body are packed on a real connection; in process they arrive unpacked, as from any fetch. */
export type Packing = "gzip" | "br" | "gzip-corrupt";

/** What goes back to the caller. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
  readonly delivery: Delivery;
  readonly packing?: Packing;
}

/** What a rule answers: a status and a body that becomes JSON; `undefined` is no body at all. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** The service says no. The message goes out as `{ "error": message }`. */
export class Refusal extends Error {
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
