/** What is known of the HTTP exchange behind an answer. */
export interface ResponseInfo {
  readonly status: number;
  readonly headers: Headers;
  /** Requests made for this answer. */
  readonly attempts: number;
  /** Time spent waiting for budgets and in back-off, in milliseconds. */
  readonly waitedMs: number;
}

/** The answer together with its HTTP response. */
export interface WithResponse<T> {
  readonly data: T;
  readonly response: ResponseInfo;
}

/** A promise of an answer; `.withResponse()` gives the HTTP response beside it. */
export interface Answer<T> extends Promise<T> {
  /** The data together with its HTTP response. */
  withResponse(): Promise<WithResponse<T>>;
}

/** Makes an Answer of a promise; the promise itself stays an ordinary one. */
export const answer = <T>(whole: Promise<WithResponse<T>>): Answer<T> => {
  const data = whole.then((both) => both.data);
  const withResponse = (): Promise<WithResponse<T>> => {
    // Whoever asks for the whole hears of a failure there.
    data.catch(() => undefined);
    return whole;
  };
  return Object.assign(data, { withResponse });
};

/** An Answer whose data is made from another one's. */
export const mapAnswer = <From, To>(from: Answer<From>, change: (data: From) => To): Answer<To> =>
  answer(from.withResponse().then(({ data, response }) => ({ data: change(data), response })));
