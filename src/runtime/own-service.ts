// A registered symbol, because the sandbox and the client may come from different copies of the package.
const mark = Symbol.for("touchpoint-sdk.own-service");

/** Marks a `fetch` as a separate service, which has its own limits. */
export const markOwnService = <Fetch extends object>(fetch: Fetch): Fetch =>
  Object.defineProperty(fetch, mark, { value: fetch });

/** The service behind a marked `fetch`; undefined for a `fetch` that only sends requests to a host. */
export const ownServiceOf = (fetch: unknown): object | undefined =>
  typeof fetch === "function" ? Reflect.get(fetch, mark) : undefined;
