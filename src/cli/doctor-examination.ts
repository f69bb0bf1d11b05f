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
}

/** One thing that the doctor found about an operation. */
export interface Finding {
  readonly operation: string;
  readonly text: string;
}

/** A record or page of an answer. */
type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Any status is a response here, except 401: without a valid key there is nothing to find out. */
const answerOf = (error: unknown): Answer & { readonly attempts: number } => {
  if (error instanceof ApiError && !(error instanceof AuthenticationError)) return error;
  if (!(error instanceof ResponseValidationError)) throw error;
  return { status: error.status, attempts: error.attempts, headers: new Headers(), body: undefined };
};

/** The type of a value, never the value itself: responses hold personal data. */
const kindOf = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
};

const shapeOf = (body: unknown): string => {
  if (body === undefined) return "no JSON";
  return isFields(body)
    ? `an object with ${Object.keys(body).sort().join(", ") || "no fields"}`
    : kindOf(body);
};

const faultsOf = (record: unknown, schema: Schema): string[] => {
  if (!isFields(record)) return [`a record must be object, is ${kindOf(record)}`];
  const { error } = schema.safeParse(record);
  return (error?.issues ?? []).map((issue) => {
    const name = issue.path.filter((key) => typeof key !== "number").join(".");
    const value = issue.path.reduce<unknown>((at, key) => Object(at)[key], record);
    return `${name} ${"expected" in issue ? `must be ${issue.expected}` : issue.message}, is ${kindOf(value)}`;
  });
};

/** Asks a service, and gathers what it finds. */
export class Examination {
  readonly differs: Finding[] = [];
  readonly notes: Finding[] = [];
  /** The rate limit headers of the last response that had some. */
  limitHeaders: Readonly<Record<string, string>> = {};
  /** Requests sent so far, including retries. */
  requests = 0;
  readonly #client: Client;
  readonly #signal: AbortSignal;

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /**
   * Sends through the client, so that it keeps the limits.
   *
   * @throws AuthenticationError, ConnectionError and RateLimitError: they end the diagnosis.
   */
  async get(path: string, query?: Readonly<Record<string, string | number>>): Promise<Answer> {
    const options = { signal: this.#signal, maxRetries: 1 };
    const answer = await this.#client
      .request({ method: "GET", path, query }, options)
      .withResponse()
      .then(({ data, response: { status, headers, attempts } }) => {
        return { status, headers, attempts, body: data };
      }, answerOf);
    this.requests += answer.attempts;
    const told = [...answer.headers].filter(([name]) => /^(x-)?rate-?limit/.test(name));
    if (told.length > 0) this.limitHeaders = Object.fromEntries(told);
    return answer;
  }

  differ(operation: string, text: string): void {
    if (!this.differs.some((known) => known.text === text)) this.differs.push({ operation, text });
  }

  note(operation: string, text: string): void {
    this.notes.push({ operation, text });
  }

  /** Reports a status that the document does not state, with the methods that a 405 names. */
  differStatus(operation: string, { status, headers }: Answer): void {
    const methods = headers.get("allow");
    this.differ(operation, `answers ${status}${methods === null ? "" : ` (it allows ${methods})`}`);
  }

  /** Reads a page, and says where it differs from the document. Undefined if it is no page. */
  pageOf(
    operation: string,
    answer: Answer,
    query: { readonly skip?: number; readonly limit?: number },
  ): { readonly data: readonly unknown[]; readonly total: number } | undefined {
    const { body } = answer;
    const differ = (text: string): void => this.differ(operation, text);
    if (answer.status !== 200) return void this.differStatus(operation, answer);
    if (!isFields(body) || !Array.isArray(body.data))
      return void differ(`answers ${shapeOf(body)}, not { data, total, skip, limit }`);
    const { data, total } = body;
    const asked = { skip: 0, limit: 50, ...query };
    const { skip, limit } = asked;
    for (const name of ["total", "skip", "limit"] as const)
      if (typeof body[name] !== "number") differ(`${name} must be number, is ${kindOf(body[name])}`);
      else if (name !== "total" && body[name] !== asked[name])
        differ(`asked for ${name} ${asked[name]}, the page says ${body[name]}`);
    if (typeof total !== "number") return undefined;
    const due = Math.max(0, Math.min(limit, total - skip));
    if (data.length !== due)
      differ(`of ${total} records, skip ${skip} and limit ${limit} give ${data.length} and not ${due}`);
    return { data, total };
  }

  /** Compares records with their documented type and fields. */
  compare(operation: string, records: readonly unknown[], schema: Schema, known: readonly string[]): void {
    for (const record of records) for (const fault of faultsOf(record, schema)) this.differ(operation, fault);
    const names = new Set(records.filter(isFields).flatMap((record) => Object.keys(record)));
    const unknown = [...names].filter((name) => !known.includes(name)).sort();
    if (unknown.length > 0)
      this.note(operation, `has fields that the document does not: ${unknown.join(", ")}`);
  }
}
