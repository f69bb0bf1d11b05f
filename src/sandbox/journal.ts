import type { Answer } from "./answer.ts";

/** A request that the sandbox received. */
export interface RequestRecord {
  /** Its operation, for instance `contacts.list`; undefined for an unknown path. */
  readonly operation: string | undefined;
  /** The HTTP method. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The decoded query; the last value of a repeated name. */
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case, without `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed if it is JSON and its `content-type` says so, otherwise the text; undefined without a body. */
  readonly body: unknown;
  /** When it was counted, in milliseconds since 1970 on the sandbox's clock. */
  readonly at: number;
  /** The workspace of its key; undefined without a valid key, or if a fault kept the request from the service. */
  readonly workspace: string | undefined;
  /** The response status; undefined if a fault sent none. */
  readonly status: number | undefined;
  /** Whether the rules accepted it and it took effect, whatever the response was. */
  readonly applied: boolean;
  /** The fault applied to it: its name, `status-503`, `redirect` or `items`; undefined without one. */
  readonly fault: string | undefined;
}

/** Exact counts of all requests, including those no longer kept. */
export interface RequestCounts {
  /** The number of requests. */
  readonly requests: number;
  /** How many by response status, such as `"200"`; `none` without one. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** How many by operation; `unknown` for an unknown path. */
  readonly byOperation: Readonly<Record<string, number>>;
}

/** The kept part of an answer. */
interface KeptAnswer {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
  /** How many characters the body had before it was cut. */
  readonly length: number;
}

/** A request with its answer, for the workbench. */
export interface Exchange {
  /** Counted from 1, over all requests. */
  readonly number: number;
  readonly request: RequestRecord;
  readonly answer: KeptAnswer;
}

/** Keeps the newest requests and counts all. */
export interface Journal {
  readonly requests: readonly RequestRecord[];
  readonly counts: RequestCounts;
  /** The newest 500, fewer than `requests` because answers are larger. A body is cut after 64 Ki characters. */
  readonly exchanges: readonly Exchange[];
  add(record: RequestRecord, answer: Pick<Answer, "headers" | "body">): void;
}

const keptExchanges = 500;
const keptCharacters = 64 * 1_024;

// Copied, because a slice of a string keeps the whole string in memory.
const cut = (text: string): string =>
  text.length <= keptCharacters ? text : Buffer.from(text.slice(0, keptCharacters)).toString();

/** Creates an empty journal that keeps at most `keep` requests. */
export const createJournal = (keep: number, changed: () => void): Journal => {
  const requests: RequestRecord[] = [];
  const exchanges: Exchange[] = [];
  const byStatus: Record<string, number> = {};
  const byOperation: Record<string, number> = {};
  let total = 0;
  return {
    requests,
    exchanges,
    get counts() {
      return { requests: total, byStatus: { ...byStatus }, byOperation: { ...byOperation } };
    },
    add(record, { headers, body }) {
      total += 1;
      const status = String(record.status ?? "none");
      const operation = record.operation ?? "unknown";
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      byOperation[operation] = (byOperation[operation] ?? 0) + 1;
      requests.push(record);
      if (requests.length > keep) requests.shift();
      changed();
      const answer = { headers, body: cut(body), length: body.length };
      exchanges.push({ number: total, request: record, answer });
      if (exchanges.length > Math.min(keep, keptExchanges)) exchanges.shift();
    },
  };
};
