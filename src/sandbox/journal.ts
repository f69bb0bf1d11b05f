import type { Answer } from "./answer.ts";

/** A request the sandbox received. */
export interface RequestRecord {
  /** Its operation, for instance `contacts.list`; undefined for a path the service does not have. */
  readonly operation: string | undefined;
  /** The HTTP method. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The query, decoded; of a name that comes twice the last value. */
  readonly query: Readonly<Record<string, string>>;
  /** By names in lower case, without `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON and its `content-type` says so, else the text; undefined without a body. */
  readonly body: unknown;
  /** Milliseconds since 1970 on the sandbox's clock, when it was counted. */
  readonly at: number;
  /** The workspace of its key; undefined without a valid key, and where a fault took its place. */
  readonly workspace: string | undefined;
  /** The status sent back; undefined where a fault left the caller without one. */
  readonly status: number | undefined;
  /** Whether the rules accepted it and it took effect, whatever the response was. */
  readonly applied: boolean;
  /** The fault it met: its name, `status-503`, `redirect` or `items`; undefined without one. */
  readonly fault: string | undefined;
}

/** Exact counts of all requests, also of those no longer kept. */
export interface RequestCounts {
  /** How many there were. */
  readonly requests: number;
  /** How many by the status sent back, such as `"200"`; `none` where there was none. */
  readonly byStatus: Readonly<Record<string, number>>;
  /** How many by operation; `unknown` for a path the service does not have. */
  readonly byOperation: Readonly<Record<string, number>>;
}

/** What was sent back, as far as it is kept. */
interface KeptAnswer {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
  /** How many characters the body had before it was cut. */
  readonly length: number;
}

/** A request with its answer, to be looked at. */
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
  /** Fewer than `requests`, since answers are larger: the newest 500, each up to 64 Ki characters. */
  readonly exchanges: readonly Exchange[];
  add(record: RequestRecord, answer: Pick<Answer, "headers" | "body">): void;
}

const keptExchanges = 500;
const keptCharacters = 64 * 1_024;

// Copied, since a slice of a string keeps the whole of it alive.
const cut = (text: string): string =>
  text.length <= keptCharacters ? text : Buffer.from(text.slice(0, keptCharacters)).toString();

/** Starts an empty journal that keeps at most `keep` requests. */
export const createJournal = (keep: number): Journal => {
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
      const answer = { headers, body: cut(body), length: body.length };
      exchanges.push({ number: total, request: record, answer });
      if (exchanges.length > Math.min(keep, keptExchanges)) exchanges.shift();
    },
  };
};
