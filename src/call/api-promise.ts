import type { Outcome } from "../errors.ts";
import type { HttpResponse } from "../http/message.ts";
import { toHeaders } from "../runtime/headers.ts";

/** Details of the HTTP response of a call. */
export interface ResponseInfo {
  /**
   * The HTTP status: 2xx, or the 404 for which `companies.findByDomain` returns `null`. 200 for a stored receipt. 0 if
   * there was nothing to send.
   */
  readonly status: number;
  /** The response headers. Empty if the call returned a stored receipt, because its `once` key was used before. */
  readonly headers: Headers;
  /**
   * The number of requests, including failed ones. 0 for a stored receipt. A call that joined another call with the
   * same `once` key has the response and the number of requests of that call.
   */
  readonly attempts: number;
  /** How long the call waited for limits and between retries, in milliseconds. */
  readonly waitedMs: number;
}

/** The response data together with the HTTP response. */
export interface WithResponse<T> {
  /** The same data as from awaiting the call itself. */
  readonly data: T;
  /** The status and headers of the response, and the number of requests and the wait of the call. */
  readonly response: ResponseInfo;
}

/** A promise of the response data. `.withResponse()` also returns the HTTP response. */
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
   * Whether a failed call may have taken effect. It is also set if the call rejected with the reason of your own
   * signal, which has no `outcome`. Undefined before the call ends, and after a success.
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

/** The last response of a call, and its numbers. */
interface CallNumbers {
  /** The response of the last successful attempt. */
  readonly response: HttpResponse | undefined;
  readonly attempts: number;
  readonly waitedMs: number;
}

/** The data of a call. It creates the ResponseInfo only when a caller reads it, because most callers never do. */
export class Answer<T> implements WithResponse<T> {
  readonly data: T;
  readonly #call: CallNumbers;

  constructor(data: T, call: CallNumbers) {
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
 * Creates an ApiPromise from an ordinary promise.
 *
 * @param outcomeOf - returns the outcome after a failure. If it is missing or returns undefined, the outcome is
 * `not-applied`.
 */
export const answer = <T>(
  result: Promise<WithResponse<T>>,
  outcomeOf?: () => Outcome | undefined,
): ApiPromise<T> => {
  const outcome: Outcome | undefined = undefined;
  // Chain from `data` and not from `result`, because an async stack trace follows a promise only if exactly one
  // callback waits for it.
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
