import type { Answer } from "./answer.ts";
import type { LimitName } from "./options.ts";

/** A request that the sandbox received. */
export interface RequestRecord {
  /** The operation, for instance `contacts.list`; undefined for an unknown path. */
  readonly operation: string | undefined;
  /** The HTTP method. */
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  /** The decoded query; the last value of a repeated name. */
  readonly query: Readonly<Record<string, string>>;
  /** The headers, with names in lower case, without `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body if it is JSON with a JSON `content-type`, otherwise the text; undefined without a body. */
  readonly body: unknown;
  /** The time when the request was counted, in milliseconds since 1970 on the sandbox's clock. */
  readonly at: number;
  /** The workspace of the API key. Undefined without a valid key, or if a fault dropped the request. */
  readonly workspace: string | undefined;
  /** The response status; undefined if a fault sent none. */
  readonly status: number | undefined;
  /** Whether the rules accepted the request, so that it took effect, regardless of the response. */
  readonly applied: boolean;
  /** The limit that caused a 429; undefined for any other status, and for a planned 429. */
  readonly limit: LimitName | undefined;
  /**
   * The fault of the request: `status-503`, `items`, `delay`, or a name such as `redirect`; undefined without a fault.
   */
  readonly fault: string | undefined;
}

/** Exact counts of all requests, including those that the journal has dropped. */
export interface RequestCounts {
  /** The number of requests. */
  readonly requests: number;
  /** The number of requests by response status, such as `"200"`; `none` for requests without a response. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** The number of requests by operation; `unknown` for an unknown path. */
  readonly byOperation: Readonly<Record<string, number>>;
}

/** A request with its answer, for the workbench. */
export interface Exchange {
  /** The number of the request, counted from 1. */
  readonly number: number;
  /** The request. Only the newest `keep` requests still have their headers and body. */
  request: RequestRecord;
  /** Undefined once the journal has dropped the response. */
  answer:
    | (Pick<Answer, "headers" | "body"> & { /** The length of the uncut body. */ readonly length: number })
    | undefined;
  /** Milliseconds until the answer, on the sandbox's clock. Undefined before the answer. */
  tookMs: number | undefined;
  /** Whether the request took effect and its response was lost. */
  isLost: boolean;
}

const maxAnswers = 500;
const maxRows = 100_000;
const rowsPerTrim = 10_000;
const maxBodyCharacters = 64 * 1_024;

// Copy the slice, because a slice of a string keeps the entire string in memory.
const cut = (text: string): string =>
  text.length <= maxBodyCharacters ? text : Buffer.from(text.slice(0, maxBodyCharacters)).toString();

/** Whether the exchange succeeded without a fault. The journal drops such responses first. */
const isPlain = ({ request: { status = 0, fault } }: Exchange): boolean =>
  fault === undefined && status >= 200 && status < 300;

const gapsAfter = (total: number, keep: number): string | undefined => {
  const most = (count: number, what: string) =>
    total > count ? [`the newest ${count.toLocaleString("en")} ${what}`] : [];
  const gaps = [
    ...most(Math.min(keep, maxAnswers), "successful responses"),
    ...most(keep, "requests with their headers and body"),
    ...most(maxRows, "requests in the list"),
  ];
  return gaps.length === 0
    ? undefined
    : `The sandbox has dropped older data. It keeps only ${gaps.join("; ")}.`;
};

/**
 * Counts all requests. It stores the newest `keep` requests with headers and body, and a row for each of the newest
 * 100,000. It stores the newest 500 responses, and every failed response to a request that still has its body. Bodies
 * are cut after 64 Ki characters.
 */
export const createJournal = (keep: number, changed: () => void) => {
  const requests: RequestRecord[] = [];
  const exchanges: Exchange[] = [];
  const lostIds = new Set<string>();
  const byStatus: Record<string, number> = {};
  const byOperation: Record<string, number> = {};
  let total = 0;
  const forget = (): void => {
    const old = exchanges.at(-maxAnswers - 1);
    if (old !== undefined && isPlain(old)) old.answer = undefined;
    const older = exchanges.at(-keep - 1);
    if (older !== undefined) {
      older.request = { ...older.request, headers: {}, body: undefined };
      older.answer = undefined;
    }
    // Remove many exchanges at once, because each removal moves all remaining ones.
    if (exchanges.length >= maxRows + rowsPerTrim) exchanges.splice(0, exchanges.length - maxRows);
  };
  return {
    requests,
    exchanges,
    /** Ids of records whose request got no usable response. */
    lostIds,
    /** A sentence about the requests that the journal has dropped; undefined if it has dropped none. */
    get gaps() {
      return gapsAfter(total, keep);
    },
    get counts(): RequestCounts {
      return { requests: total, byStatus: { ...byStatus }, byOperation: { ...byOperation } };
    },
    add(record: RequestRecord, { headers, body }: Pick<Answer, "headers" | "body">): Exchange {
      total += 1;
      const status = String(record.status ?? "none");
      const operation = record.operation ?? "unknown";
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      byOperation[operation] = (byOperation[operation] ?? 0) + 1;
      requests.push(record);
      if (requests.length > keep) requests.shift();
      const answer = { headers, body: cut(body), length: body.length };
      const exchange = { number: total, request: record, answer, tookMs: undefined, isLost: false };
      exchanges.push(exchange);
      forget();
      changed();
      return exchange;
    },
    /** Notes that the caller doesn't know whether its request took effect. */
    markLost(exchange: Exchange, id: string | undefined): void {
      exchange.isLost = true;
      if (id !== undefined) lostIds.add(id);
    },
    markAnswered(exchange: Exchange, tookMs: number): void {
      exchange.tookMs = Math.round(tookMs);
      changed();
    },
  };
};

export type Journal = ReturnType<typeof createJournal>;
