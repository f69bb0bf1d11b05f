import type { LimitName } from "./options.ts";

/** A request, as `fetch` and `listen` pass it to the sandbox. */
export interface Incoming {
  readonly method: string;
  /** The path and query, for instance `/api/v1/contacts?limit=10`. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the caller has given up since. */
  readonly isGone?: () => boolean;
}

/** How much of an answer reaches the caller, and how. */
type Delivery =
  | { readonly kind: "whole" }
  /** The connection breaks before any byte of the answer. */
  | { readonly kind: "reset" }
  /** No byte ever arrives. */
  | { readonly kind: "stall" }
  /** Headers and a part of the body, then a reset or nothing. */
  | { readonly kind: "part"; readonly then: "reset" | "stall" }
  /** The body in small pieces. */
  | { readonly kind: "drip"; readonly everyMs: number }
  /** The whole answer; then the keep-alive connection closes without notice. */
  | { readonly kind: "close-after" }
  /** A 103 before the answer; only a real server can send one. */
  | { readonly kind: "early-hints" };

/** How a body is compressed on a real connection. In process it arrives decompressed, as from any fetch. */
export type Packing = "gzip" | "br" | "gzip-corrupt";

/** A response to the caller. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
  readonly delivery: Delivery;
  readonly packing?: Packing;
  /** How late it leaves, in milliseconds. */
  readonly delayMs?: number;
}

/** The result of a rule: a status, and a body to send as JSON; `undefined` sends no body. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** A refusal by the service. The response body is `{ "error": message }`. */
export class Refusal extends Error {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The limit that gave a 429. */
  readonly limit: LimitName | undefined;

  constructor(status: number, message: string, retryAfterMs?: number, limit?: LimitName) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.limit = limit;
  }
}

const json = { "content-type": "application/json; charset=utf-8" };

/** Turns the result of a rule into an answer. */
export const replyTo = (reply: Reply | Refusal): Answer => {
  const delivery = { kind: "whole" } as const;
  if (reply instanceof Refusal) {
    // Rounded up: a retry at the named second must never be too early.
    const seconds = reply.retryAfterMs === undefined ? undefined : Math.ceil(reply.retryAfterMs / 1_000);
    const headers = seconds === undefined ? json : { ...json, "retry-after": String(seconds) };
    return { status: reply.status, headers, body: JSON.stringify({ error: reply.message }), delivery };
  }
  if (reply.body === undefined) return { status: reply.status, headers: {}, body: "", delivery };
  return { status: reply.status, headers: json, body: JSON.stringify(reply.body), delivery };
};
