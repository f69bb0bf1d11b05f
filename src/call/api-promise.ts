import { isTouchpointError } from "../errors.ts";
import type { HttpResponse, RequestStats } from "../http/types.ts";
import { type RawHeaders, toHeaders } from "../runtime/headers.ts";

/** What is known of the HTTP exchange behind an answer. */
export interface ResponseInfo {
  /** The HTTP status; 2xx, but for the 404 that `companies.findByDomain` takes for `null`. */
  readonly status: number;
  /** The answer's headers; none beside the kept receipt of an email that went out under its `once` key before. */
  readonly headers: Headers;
  /** Requests made for this answer, the failed ones too; 0 for such a receipt. */
  readonly attempts: number;
  /** Time spent waiting for budgets and in back-off, in milliseconds. */
  readonly waitedMs: number;
}

/** The answer together with its HTTP response. */
export interface WithResponse<T> {
  /** What awaiting the call itself gives. */
  readonly data: T;
  /** Status and headers of the answer, and what the call took. */
  readonly response: ResponseInfo;
}

/** A promise of an answer; `.withResponse()` gives the HTTP response beside it. */
export interface ApiPromise<T> extends Promise<T> {
  /** The data together with its HTTP response; rejects with the error of the call itself. */
  withResponse(): Promise<WithResponse<T>>;
}

/** A class, so that `headers` is made of the raw ones only where somebody looks at them. */
export class LazyResponseInfo implements ResponseInfo {
  readonly status: number;
  readonly attempts: number;
  readonly waitedMs: number;
  readonly #headers: RawHeaders;

  constructor(response: HttpResponse, stats: RequestStats) {
    this.status = response.status;
    this.attempts = stats.attempts;
    this.waitedMs = stats.waitedMs;
    this.#headers = response.headers;
  }

  get headers(): Headers {
    return toHeaders(this.#headers);
  }
}

const dataOf = <T>({ data }: WithResponse<T>): T => data;

/** Makes an ApiPromise of a promise; the promise itself stays an ordinary one. */
export const answer = <T>(whole: Promise<WithResponse<T>>): ApiPromise<T> => {
  const data = whole.then(dataOf);
  const withResponse = (): Promise<WithResponse<T>> => {
    // Whoever asks for the whole hears of a failure there.
    data.catch(() => undefined);
    return whole;
  };
  return Object.assign(data, { withResponse });
};

/**
 * Makes what a mock of a method must return: a promise with `.withResponse()`.
 *
 * @param response - what `.withResponse()` tells of the exchange; default: status 200, no headers, one attempt.
 * @example
 * ```ts
 * import { Client, mockAnswer } from "touchpoint-sdk";
 *
 * const client = new Client({ apiKey: "key", baseUrl: "http://localhost" });
 * client.companies.findByDomain = () => mockAnswer(null);
 * console.log(await client.companies.findByDomain("engines.example")); // null
 * ```
 */
export const mockAnswer = <T>(data: T, response: Partial<ResponseInfo> = {}): ApiPromise<T> =>
  answer(
    Promise.resolve({
      data,
      response: { status: 200, headers: new Headers(), attempts: 1, waitedMs: 0, ...response },
    }),
  );

/** An ApiPromise whose data is made from another one's. */
export const mapAnswer = <From, To>(from: ApiPromise<From>, change: (data: From) => To): ApiPromise<To> =>
  answer(from.withResponse().then(({ data, response }) => ({ data: change(data), response })));

/** What the requests of one call come to: the last answer's status and headers, and all attempts and waits. */
export class CallStats {
  #last: ResponseInfo | undefined;
  #attempts = 0;
  #waitedMs = 0;

  /** Counts a request in once it has been answered. */
  watch(request: ApiPromise<unknown>): void {
    request.withResponse().then(
      ({ response }) => {
        this.#last = response;
        this.#attempts += response.attempts;
        this.#waitedMs += response.waitedMs;
      },
      (error: unknown) => {
        if (isTouchpointError(error)) this.#attempts += error.attempts;
      },
    );
  }

  /** Makes the answer of the call that they belong to. */
  answer<T>(work: Promise<T>): ApiPromise<T> {
    return answer(work.then((data) => ({ data, response: this.#response })));
  }

  get #response(): ResponseInfo {
    return {
      status: this.#last?.status ?? 0,
      headers: this.#last?.headers ?? new Headers(),
      attempts: this.#attempts,
      waitedMs: this.#waitedMs,
    };
  }
}
