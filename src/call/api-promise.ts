import type { Outcome } from "../errors.ts";
import type { HttpResponse } from "../http/message.ts";
import { toHeaders } from "../runtime/headers.ts";

/** Details of the HTTP response of a call. */
export interface ResponseInfo {
  /** The HTTP status: 2xx, or the 404 that `companies.findByDomain` reads as `null`. */
  readonly status: number;
  /** The response headers. Empty for the stored receipt of an email that was sent earlier under its `once` key. */
  readonly headers: Headers;
  /**
   * The number of requests, including failed ones. 0 for a stored receipt; a call that joined another one with its `once` key
   * has the other one's response and number.
   */
  readonly attempts: number;
  /** How long the call waited for limits and in back-off, in milliseconds. */
  readonly waitedMs: number;
}

/** The response data together with the HTTP response. */
export interface WithResponse<T> {
  /** What awaiting the call itself gives. */
  readonly data: T;
  /** Status and headers of the response, and what the call took. */
  readonly response: ResponseInfo;
}

/** A promise of the response data. `.withResponse()` also gives the HTTP response. */
export interface ApiPromise<T> extends Promise<T> {
  /**
   * Returns the data together with the HTTP response. Rejects with the same error as the call.
   *
   * @example
   * ```ts
   * const { data, response } = await client.contacts.find("ada@example.com").withResponse();
   * console.log(data?.id, response.status, response.attempts);
   * ```
   */
  withResponse(): Promise<WithResponse<T>>;
  /**
   * After a failure, whether anything of the call may have happened, also where it threw the reason of your own signal.
   * Undefined before that, and after a success.
   *
   * @example
   * ```ts
   * const call = client.emails.send(
   *   { to: "ada@example.com", subject: "Hi", text: "Hi" },
   *   { signal: AbortSignal.timeout(5_000) },
   * );
   * await call.catch(() => console.log(call.outcome));
   * ```
   */
  readonly outcome: Outcome | undefined;
}

/** What a call has taken. */
interface CallTaken {
  /** The last response of an attempt that succeeded. */
  readonly response: HttpResponse | undefined;
  readonly attempts: number;
  readonly waitedMs: number;
}

/** The data of a call. Most callers never read its response, so it is described only when it is read. */
export class Answer<T> implements WithResponse<T> {
  readonly data: T;
  readonly #call: CallTaken;

  constructor(data: T, call: CallTaken) {
    this.data = data;
    this.#call = call;
  }

  get response(): ResponseInfo {
    const { response, attempts, waitedMs } = this.#call;
    const { status = 0, headers = {} } = response ?? {};
    return { status, headers: toHeaders(headers), attempts, waitedMs };
  }
}

const dataOf = <T>({ data }: WithResponse<T>): T => data;

/**
 * Creates an ApiPromise; the promise itself stays an ordinary one.
 *
 * @param outcomeOf - tells the outcome after a failure; without one, or undefined: nothing was sent.
 */
export const answer = <T>(
  result: Promise<WithResponse<T>>,
  outcomeOf?: () => Outcome | undefined,
): ApiPromise<T> => {
  const outcome: Outcome | undefined = undefined;
  // From `data`, and not from `whole`: a stack trace leads back only along a promise that one other waits for.
  const withResponse = (): Promise<WithResponse<T>> =>
    data.then(() => result.then(({ data, response }) => ({ data, response })));
  const data: Promise<T> & { withResponse: typeof withResponse; outcome: Outcome | undefined } =
    Object.assign(
      result.then(dataOf, (error: unknown) => {
        data.outcome = outcomeOf?.() ?? "not-applied";
        throw error;
      }),
      { withResponse, outcome },
    );
  return data;
};
