import {
  ApiError,
  AuthenticationError,
  type Client,
  ResponseValidationError,
  type Schema,
} from "../index.ts";

/** The response to a GET request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if it was not JSON. */
  readonly body: unknown;
  /** When it arrived, in milliseconds since 1970. */
  readonly atMs: number;
}

type Query = Readonly<Record<string, string | number>>;

/** Sends GET requests, and counts them. */
export interface Ask {
  get(path: string, query?: Query): Promise<Answer>;
  /** All responses so far, oldest first. */
  readonly answers: readonly Answer[];
  /** Requests sent so far, including retries. */
  readonly requests: number;
}

/** One thing that the doctor found about an operation. */
export interface Finding {
  readonly operation: string;
  /** `differs`: from the document, or from the library's assumptions. `note`: worth knowing. */
  readonly level: "differs" | "note";
  readonly text: string;
}

const noJson = { headers: new Headers(), body: undefined };

/** Any status is a response here, except 401: without a valid key there is nothing to find out. */
const answerOf = (error: unknown): Omit<Answer, "atMs"> & { readonly attempts: number } => {
  if (error instanceof AuthenticationError) throw error;
  if (error instanceof ApiError) return error;
  if (error instanceof ResponseValidationError)
    return { ...noJson, status: error.status, attempts: error.attempts };
  throw error;
};

/**
 * Sends through the client, so that it keeps the limits.
 *
 * @throws AuthenticationError, ConnectionError and RateLimitError from `get`: they end the diagnosis.
 */
export const createAsk = (client: Client, signal: AbortSignal): Ask => {
  const answers: Answer[] = [];
  let requests = 0;
  const get: Ask["get"] = async (path, query) => {
    const call = client.request({ method: "GET", path, query }, { signal, maxRetries: 1 });
    const { status, headers, body, attempts } = await call.withResponse().then(
      ({ data, response }) => ({
        status: response.status,
        headers: response.headers,
        body: data,
        attempts: response.attempts,
      }),
      answerOf,
    );
    requests += attempts;
    const answer = { status, headers, body, atMs: Date.now() };
    answers.push(answer);
    return answer;
  };
  return {
    get,
    answers,
    get requests() {
      return requests;
    },
  };
};

/** A limit: a number of requests per time. */
interface Rate {
  readonly max: number;
  readonly perMs: number;
}

/** What the response headers show about the service's rate limiter. */
export interface LimiterReport {
  /** The rate limit headers of the last response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly kind: "fixed window" | "sliding window or bucket" | "not told";
  /** Limits that the headers state with their window. */
  readonly stated: readonly Rate[];
}

const isAboutLimits = /^(x-)?rate-?limit/;

/** The rate limit headers of a response. */
export const aboutLimits = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => isAboutLimits.test(name)));

/** Parses `"default";q=100;w=10` and the older `100;w=10`, also several separated by commas. */
const statedIn = (headers: Readonly<Record<string, string>>): Rate[] =>
  Object.values(headers)
    .flatMap((value) => value.split(","))
    .flatMap((policy) => {
      const max = /(?:;\s*q=|^\s*)(\d+)/.exec(policy)?.[1];
      const seconds = /;\s*w=(\d+)/.exec(policy)?.[1];
      return max === undefined || seconds === undefined
        ? []
        : [{ max: Number(max), perMs: Number(seconds) * 1_000 }];
    });

const firstEpochSecond = 1_000_000_000;

/** When the limit resets according to the headers, in milliseconds since 1970. */
const endOf = ({ headers, atMs }: Answer): number | undefined => {
  const text =
    /;\s*t=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1] ??
    headers.get("ratelimit-reset") ??
    headers.get("x-ratelimit-reset");
  if (text === null || !/^\d+$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds >= firstEpochSecond ? seconds * 1_000 : atMs + seconds * 1_000;
};

// Headers count in seconds, so a smaller movement of the reset is none.
const coarseMs = 1_000;

const limiterKindOf = (answers: readonly Answer[]): LimiterReport["kind"] => {
  const ends = answers.map(endOf).filter((end) => end !== undefined);
  const spanMs = (answers.at(-1)?.atMs ?? 0) - (answers[0]?.atMs ?? 0);
  if (ends.length < answers.length || answers.length < 3 || spanMs <= 2 * coarseMs) return "not told";
  const movedMs = Math.max(...ends) - Math.min(...ends);
  if (movedMs <= coarseMs) return "fixed window";
  // At the end of a window the reset moves by a whole window, which is more than the time that passed.
  return movedMs <= spanMs + coarseMs ? "sliding window or bucket" : "not told";
};

/** Reads the kind of limiter and its numbers from the headers; most services send neither. */
export const limiterOf = (answers: readonly Answer[]): LimiterReport => {
  const headers = aboutLimits(answers.at(-1)?.headers ?? new Headers());
  return { headers, kind: limiterKindOf(answers), stated: statedIn(headers) };
};

/** Limits in the headers that are lower than the documented ones of the same window. */
export const lowerThan = (
  stated: readonly Rate[],
  documented: readonly Rate[],
): readonly { readonly stated: Rate; readonly documented: Rate }[] =>
  stated.flatMap((rate) => {
    const same = documented.find(({ perMs }) => perMs === rate.perMs);
    return same !== undefined && rate.max < same.max ? [{ stated: rate, documented: same }] : [];
  });

/** A record or page of an answer. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The type of a value, never the value itself: responses hold personal data. */
export const kindOf = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
};

const timeFields = ["createdAt", "updatedAt", "sendAt"];
const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]00:?00)$/;

const timeFaults = (record: Fields): string[] =>
  timeFields
    .filter((name) => typeof record[name] === "string" && !utc.test(record[name]))
    .map((name) => `${name} is no ISO 8601 time in UTC`);

const valueAt = (record: Fields, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (value === undefined || value === null ? value : Object(value)[key]),
    record,
  );

const faultsOf = (record: Fields, schema: Schema): string[] => {
  const result = schema.safeParse(record);
  if (result.success) return timeFaults(record);
  const misfits = result.error.issues.map((issue) => {
    const name = issue.path.filter((key) => typeof key !== "number").join(".");
    const wanted = "expected" in issue ? `must be ${issue.expected}` : issue.message;
    return `${name} ${wanted}, is ${kindOf(valueAt(record, issue.path))}`;
  });
  return [...misfits, ...timeFaults(record)];
};

/** Where the records do not fit the documented type, each kind of fault once. */
export const recordFaults = (records: readonly unknown[], schema: Schema): string[] => {
  const counts = new Map<string, number>();
  for (const record of records) {
    const faults = isFields(record)
      ? faultsOf(record, schema)
      : [`a record must be object, is ${kindOf(record)}`];
    for (const fault of new Set(faults)) counts.set(fault, (counts.get(fault) ?? 0) + 1);
  }
  return [...counts].map(([fault, count]) => `${fault} (${count} of ${records.length} records)`);
};

/** The names of undocumented fields in all records. */
export const unknownFields = (records: readonly unknown[], known: readonly string[]): string[] => {
  const names = new Set(records.filter(isFields).flatMap((record) => Object.keys(record)));
  return [...names].filter((name) => !known.includes(name)).sort();
};
