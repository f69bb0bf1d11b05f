import {
  ApiError,
  AuthenticationError,
  type Client,
  ResponseValidationError,
  type Schema,
} from "../index.ts";
import { fieldsOf } from "./contact-columns.ts";

/** One thing that the doctor found about an operation. */
export interface Finding {
  readonly operation: string;
  readonly text: string;
}

/** The response to a GET request; the body is undefined if it was not JSON. */
type Answer = Pick<ApiError, "status" | "headers" | "attempts" | "body">;

type Query = Readonly<Record<string, string | number>>;

export const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Any status is a response here, except 401: without a valid key there is nothing to find out. */
const answerOf = (error: unknown): Answer => {
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

// This path cannot exist: its response shows how a missing path differs from a missing record.
const missing = "/api/v1/touchpoint-doctor-missing";

const signatureOf = ({ status, body }: Answer, path: string): string =>
  `${status} ${JSON.stringify(body ?? null).replaceAll(path, "")}`;

/** Asks a service, and gathers what it finds. */
export class Examination {
  readonly differs: Finding[] = [];
  readonly notes: Finding[] = [];
  /** The service's rate limit headers. */
  limits: Readonly<Record<string, string>> = {};
  /** Requests sent so far, including retries. */
  requests = 0;
  readonly #client: Client;
  readonly #signal: AbortSignal;
  /** How a path that does not exist is answered, if that can be told. */
  #none: string | undefined;

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  differ(operation: string, text: string): void {
    if (!this.differs.some((known) => known.text === text)) this.differs.push({ operation, text });
  }

  note(operation: string, text: string): void {
    this.notes.push({ operation, text });
  }

  /**
   * Sends through the client, so that it keeps the limits. Undefined if the path does not exist.
   *
   * @throws AuthenticationError, ConnectionError and RateLimitError: they end the diagnosis.
   */
  async get(path: string, query?: Query): Promise<Answer | undefined> {
    const answer = await this.#client
      .request({ method: "GET", path, query }, { signal: this.#signal, maxRetries: 1 })
      .withResponse()
      .then(({ data, response }) => ({ ...response, body: data }), answerOf);
    this.requests += answer.attempts;
    const told = [...answer.headers].filter(([name]) => /^(x-)?rate-?limit/.test(name));
    this.limits = { ...this.limits, ...Object.fromEntries(told) };
    return signatureOf(answer, path) === this.#none ? undefined : answer;
  }

  /** From here on, `get` can tell a path that does not exist. */
  async learnMissingPath(): Promise<void> {
    const answer = await this.get(missing);
    if (answer?.status === 404) this.#none = signatureOf(answer, missing);
    else this.note("paths", "a path that cannot exist is not answered 404: which paths exist cannot be told");
  }

  /** Reports a status that the document does not state, with the methods that a 405 names. */
  differStatus(operation: string, { status, headers }: Answer): void {
    const methods = headers.get("allow");
    this.differ(operation, `answers ${status}${methods === null ? "" : ` (it allows ${methods})`}`);
  }

  /** Reads a page, and says where it differs from the document. Undefined if it is no page. */
  async page(operation: string, path: string, query: Query) {
    const answer = await this.get(path, query);
    const differ = (text: string): void => this.differ(operation, text);
    if (answer === undefined) return void differ(`${path} does not answer`);
    if (answer.status !== 200) return void this.differStatus(operation, answer);
    const { body } = answer;
    if (!isFields(body) || !Array.isArray(body.data)) {
      const names = isFields(body) && Object.keys(body).sort().join(", ");
      const shape = names === false ? kindOf(body) : `an object with ${names || "no fields"}`;
      return void differ(
        `answers ${body === undefined ? "no JSON" : shape}, not { data, total, skip, limit }`,
      );
    }
    const { data, total } = body;
    const asked: Query = { skip: 0, limit: 50, ...query };
    for (const name of ["total", "skip", "limit"])
      if (typeof body[name] !== "number") differ(`${name} must be number, is ${kindOf(body[name])}`);
      else if (name !== "total" && body[name] !== asked[name])
        differ(`asked for ${name} ${asked[name]}, the page says ${body[name]}`);
    if (typeof total !== "number") return undefined;
    const due = Math.max(0, Math.min(Number(asked.limit), total - Number(asked.skip)));
    if (data.length !== due)
      differ(
        `of ${total} records, skip ${asked.skip} and limit ${asked.limit} give ${data.length} and not ${due}`,
      );
    return { data: data as readonly unknown[], total };
  }

  /** Compares records with their documented type and fields. */
  compare(operation: string, records: readonly unknown[], schema: Schema): void {
    for (const record of records)
      for (const issue of schema.safeParse(record).error?.issues ?? []) {
        const name = issue.path.filter((key) => typeof key !== "number").join(".") || "a record";
        const value = issue.path.reduce<unknown>((at, key) => Object(at)[key], record);
        const must = "expected" in issue ? `must be ${issue.expected}` : issue.message;
        this.differ(operation, `${name} ${must}, is ${kindOf(value)}`);
      }
    const known = fieldsOf(schema);
    const names = new Set(records.filter(isFields).flatMap((record) => Object.keys(record)));
    const unknown = [...names].filter((name) => !known.includes(name)).sort();
    if (unknown.length > 0)
      this.note(operation, `has fields that the document does not: ${unknown.join(", ")}`);
  }
}
