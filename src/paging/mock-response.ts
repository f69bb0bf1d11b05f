import { type ApiPromise, answer, type ResponseInfo } from "../call/api-promise.ts";
import { toHeaders } from "../runtime/headers.ts";
import type { Page } from "../service/common.ts";
import type { Paged } from "./paged.ts";

/** The members of a list besides the promise of one page. */
const listOf = <T>(
  page: Page<T>,
  response: ResponseInfo,
): Pick<Paged<T>, "pages" | "request" | "toArray" | typeof Symbol.asyncIterator> => ({
  async *pages() {
    yield { ...page, cursor: "mock", drift: 0 };
  },
  request: { operation: "mock", query: {} },
  toArray: ({ max } = {}) => answer(Promise.resolve({ data: page.data.slice(0, max), response })),
  async *[Symbol.asyncIterator]() {
    yield* page.data;
  },
});

const isPage = (data: unknown): data is Page<unknown> =>
  typeof data === "object" && data !== null && "data" in data && Array.isArray(data.data);

/**
 * Creates the return value for a mocked method: a promise with `.withResponse()`. If the data is a page of a list, the
 * mocked list can be iterated as well, and ends after this page.
 *
 * @param response - the response that `.withResponse()` returns. Default: status 200, no headers, one attempt.
 * @example
 * ```ts
 * import { Client, mockResponse } from "touchpoint-sdk";
 *
 * const mocked = new Client({ apiKey: "key", baseUrl: "http://localhost" });
 * mocked.companies.findByDomain = () => mockResponse(null);
 * mocked.contacts.list = () => mockResponse({ data: [], total: 0, skip: 0, limit: 50 });
 * console.log(await mocked.companies.findByDomain("engines.example")); // null
 * console.log(await mocked.contacts.list().toArray()); // []
 * ```
 */
export const mockResponse = <T>(
  data: T,
  response: Partial<ResponseInfo> = {},
): ApiPromise<T> & (T extends Page<infer Item> ? Paged<Item> : unknown) => {
  const complete = { status: 200, headers: toHeaders({}), attempts: 1, waitedMs: 0, ...response };
  const mocked = answer(Promise.resolve({ data, response: complete }));
  // TypeScript does not see that the condition on the type and `isPage` are the same.
  return Object.assign(mocked, isPage(data) && listOf(data, complete)) as ReturnType<typeof mockResponse<T>>;
};
