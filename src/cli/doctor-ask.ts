import { ApiError, AuthenticationError, type Client, ResponseValidationError } from "../index.ts";

/** What a GET was answered with. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where it was no JSON. */
  readonly body: unknown;
  /** When it came, in milliseconds since 1970. */
  readonly atMs: number;
}

type Query = Readonly<Record<string, string | number>>;

/** Asks the service by GET, and counts. */
export interface Ask {
  get(path: string, query?: Query): Promise<Answer>;
  /** All answers so far, oldest first. */
  readonly answers: readonly Answer[];
  /** Requests made so far, repeats of failed ones too. */
  readonly requests: number;
}

/** One thing that the doctor found about an operation. */
export interface Finding {
  readonly operation: string;
  /** `differs`: from the document, or from what the library infers. `note`: worth knowing. */
  readonly level: "differs" | "note";
  readonly text: string;
}

const noJson = { headers: new Headers(), body: undefined };

/** Every status is an answer here, but for 401: with such a key there is nothing to find out. */
const answerOf = (error: unknown): Omit<Answer, "atMs"> & { readonly attempts: number } => {
  if (error instanceof AuthenticationError) throw error;
  if (error instanceof ApiError) return error;
  if (error instanceof ResponseValidationError)
    return { ...noJson, status: error.status, attempts: error.attempts };
  throw error;
};

/**
 * Asks through the client's own stages, so that the limits are kept.
 *
 * @throws AuthenticationError, ConnectionError and RateLimitError from `get`: they end the examination.
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
