// Registered, because the sandbox and the client may come from different copies of the package.
const mark = Symbol.for("touchpoint-sdk.own-service");

/** Marks a `fetch` as a service of its own: what it counts is no other service's. */
export const markOwnService = <Fetch extends object>(fetch: Fetch): Fetch =>
  Object.defineProperty(fetch, mark, { value: fetch });

/** The service that a `fetch` is; undefined for one that only carries requests to a host. */
export const ownServiceOf = (fetch: unknown): object | undefined =>
  typeof fetch === "function" ? Reflect.get(fetch, mark) : undefined;
