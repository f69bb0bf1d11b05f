import type { LimitName } from "./options.ts";

/** A request, as `fetch` and `listen` pass it to the sandbox. */
export interface Incoming {
  readonly method: string;
  /** The path and query, for instance `/api/v1/contacts?limit=10`. */
  readonly target: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the caller has closed the connection. */
  readonly isGone?: () => boolean;
}

/** A response to the caller. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * The fault in the delivery of the response: the connection breaks before the first byte or after half of the body,
   * or nothing is ever sent.
   */
  readonly delivery?: "reset" | "truncate" | "stall";
  /** The delay before the response is sent, in milliseconds. */
  readonly delayMs?: number;
}

/** The result of a rule: a status, and a body to send as JSON; `undefined` sends no body. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterMs?: number | undefined;
}

export class Refusal extends Error implements Reply {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The limit that caused a 429. */
  readonly limit: LimitName | undefined;

  constructor(status: number, message: string, retryAfterMs?: number, limit?: LimitName) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.limit = limit;
  }

  get body() {
    return { error: this.message };
  }
}

const json = { "content-type": "application/json; charset=utf-8" };

/** Converts the result of a rule to an answer. */
export const replyTo = ({ status, body, retryAfterMs }: Reply): Answer => {
  if (body === undefined) return { status, headers: {}, body: "" };
  // Round up, so that a retry after the named seconds is never too early.
  const wait = retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) };
  return { status, headers: { ...json, ...wait }, body: JSON.stringify(body) };
};

/** Creates the error with which a fetch reports a broken connection. */
export const broken = (message: string): TypeError =>
  new TypeError(message, { cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }) });

const parsed = (value: unknown, refusal?: Refusal) => ({ value, refusal });
const refused = (value: unknown, why: string) => parsed(value, new Refusal(400, why));

/**
 * Parses the body of a request. Returns its JSON, or its text with a refusal. The caller throws the refusal, because
 * the request must first count against the limits.
 */
export const parseBody = ({ method, headers, body }: Incoming) => {
  const mayBeEmpty = method === "GET" || method === "DELETE";
  if (body === "") return mayBeEmpty ? parsed(undefined) : refused(undefined, "The body is missing.");
  if (!(headers["content-type"] ?? "").toLowerCase().startsWith("application/json"))
    return refused(body, "The header Content-Type must be application/json.");
  try {
    return parsed(JSON.parse(body));
  } catch {
    return refused(body, "The body is not valid JSON.");
  }
};
