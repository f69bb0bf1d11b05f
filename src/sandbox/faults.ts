/** A fault by name. "Applied" means that the effect happens and only the caller does not learn of it rightly. */
export type FaultName =
  /** The connection resets; nothing is applied. */
  | "reset-before"
  /** Applied, then the connection resets before any byte of the answer. */
  | "reset-after-apply"
  /** Applied; the body breaks off in the middle. */
  | "truncate"
  /** Nothing is applied, and no byte ever comes. */
  | "stall"
  /** Applied, and no byte ever comes. */
  | "stall-after-apply"
  /** Applied; headers and a part of the body come, then silence. */
  | "stall-body"
  /** Applied; the body comes a few bytes at a time. */
  | "drip"
  /** Applied; the body is not JSON, though it says so. */
  | "garbage"
  /** Applied; JSON that calls itself text/plain. */
  | "wrong-type"
  /** A proxy's HTML page with status 502; nothing is applied. */
  | "html-502"
  /** The same page, though the effect happened. */
  | "html-502-after-apply"
  /** Status 500 without a body; nothing is applied. */
  | "empty-500"
  /** A 307 to another origin; nothing is applied. */
  | "redirect"
  /** Applied; every documented field but the first is left out. */
  | "missing-fields"
  /** Applied; fields nobody has heard of are added. */
  | "unknown-fields"
  /** Applied; every field is null. */
  | "null-fields"
  /** Applied; numbers become strings, strings numbers. */
  | "wrong-types"
  /** Applied; status 204 and no body. */
  | "no-content"
  /** Applied; the body is packed, rightly or not. */
  | "gzip"
  | "br"
  | "gzip-corrupt"
  /** Applied; a JSON body of 200 MB. */
  | "huge-body"
  /** Applied; a JSON body nested 100,000 deep. */
  | "deep-json"
  /** Applied; headers come twice with different values. */
  | "duplicate-headers"
  /** Applied; a 103 comes before the answer (over `listen` only). */
  | "early-hints"
  /** Applied and answered; the kept-alive connection then closes unannounced (over `listen` only). */
  | "close-after";

/** A status made up on the spot. */
export interface StatusFault {
  /** 200 to 599. */
  readonly status: number;
  /** The header as it goes out: seconds, any text, or a `Date` for an HTTP date. */
  readonly retryAfter?: number | string | Date;
  /** Default: `{ error }`. A string goes out as it is. A 204, 205 or 304 has none. */
  readonly body?: unknown;
  /** Sent beside `content-type: application/json` and `retryAfter`, whose place they take, in upper or lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the effect happens all the same; default: false. */
  readonly applied?: boolean;
}

/** A redirect of one's own. */
export interface RedirectFault {
  /** The `location` to send; nothing is applied. */
  readonly redirect: string;
  /** 300 to 399; default: 307. */
  readonly status?: number;
}

/** Items of a batch that fail, unapplied, inside a 207. */
export interface ItemsFault {
  /** Their places in the batch, from 0 to 99. */
  readonly items: readonly number[];
  /** The status of each, 200 to 599; default: 500. */
  readonly status?: number;
}

/** What becomes of a request: one of the faults by name, a status, a redirect, or items of a batch that fail. */
export type Fault = FaultName | StatusFault | RedirectFault | ItemsFault;

/** Which requests fail, and how. */
export interface FaultOptions {
  /** An operation id such as `contacts.list`, or `*` (default) for any request, even to an unknown path. */
  readonly operation?: string;
  /** The first request that fails, counted from now, starting at 1 (default). */
  readonly nth?: number;
  /** How many requests fail from there. Default 1; `Infinity` for all. */
  readonly times?: number;
  /** The probability that each of them fails, 0–1, drawn from the sandbox's seed. Default 1. */
  readonly chance?: number;
  /** What happens to them. */
  readonly with: Fault;
}

/**
 * A planned fault: count its hits, or remove it.
 *
 * @example
 * ```ts
 * const fault = sandbox.fail({ operation: "emails.send", times: 3, with: { status: 503 } });
 * fault.remove();
 * console.log(fault.hits);
 * ```
 */
export interface PlannedFault {
  /** The number of requests that failed because of it. */
  readonly hits: number;
  /** Removes the fault: later requests are answered normally. */
  remove(): void;
}

/** A fault as one word, for `state.requests`. */
export const faultLabel = (fault: Fault): string => {
  if (typeof fault === "string") return fault;
  if ("items" in fault) return "items";
  return "redirect" in fault ? "redirect" : `status-${fault.status}`;
};
