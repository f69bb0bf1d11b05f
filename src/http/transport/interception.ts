import type { Dispatcher, Fetch } from "../../options/fetch.ts";

/** The replacement of the network in a test. */
export type TestDouble = { readonly fetch: Fetch } | { readonly dispatcher: Dispatcher };

// undici 8 stores its global dispatcher under the first symbol, and a wrapper of it under the second. undici 7 uses
// only the second symbol.
const dispatcherSymbol = Symbol.for("undici.globalDispatcher.2");
const wrapperSymbol = Symbol.for("undici.globalDispatcher.1");

// Each request reads these globals. A loop over the symbols, or Reflect.get, would take five times as long.
const globals: { readonly [name: symbol]: unknown } = globalThis;

// MSW 2 and nock 14 register their interceptors here while they are active.
const interceptorSymbol = Symbol.for("fetch-interceptor");

const isTestRun = (): boolean => {
  const { VITEST, JEST_WORKER_ID, NODE_TEST_CONTEXT } = process.env;
  return [VITEST, JEST_WORKER_ID, NODE_TEST_CONTEXT].some((value) => value !== undefined);
};

/** Whether an interceptor is active. MSW 3 and nock 15 also replace `Headers`, and mark the replacement. */
const isIntercepted = (): boolean =>
  Reflect.has(globalThis, interceptorSymbol) ||
  Object.getOwnPropertySymbols(globalThis.Headers).some(
    ({ description }) => description === "kRestorePatches",
  );

// Node's own fetch is a small function that loads undici. Other runtimes show the name of their fetch, but no source. A
// Proxy, such as a mock of node:test, shows neither.
const isBuiltIn = (fetch: unknown): boolean =>
  typeof fetch === "function" &&
  /fetchImpl|lazyUndici|^function fetch\(\)\s*\{\s*\[native code\]/.test(
    Function.prototype.toString.call(fetch),
  );

// Reading the source of a function takes longer than a call, so read it once per function.
let builtInFetch: unknown;

const interceptedFetch: Fetch = (url, init) => {
  // Use a variable, because Node's types lack `cache`, which every fetch accepts.
  const uncached = { ...init, cache: "no-store" };
  return globalThis.fetch(url, uncached);
};

const isMockAgent = (value: unknown): value is Dispatcher =>
  typeof value === "object" &&
  value !== null &&
  "dispatch" in value &&
  "disableNetConnect" in value &&
  "pendingInterceptors" in value;

/**
 * Returns the test double that gets the requests of the default transport; undefined if there is none. It is called for
 * each request, because a test may set up the double after it created the client.
 */
export const testDouble = (): TestDouble | undefined => {
  const { fetch } = globalThis;
  if (fetch !== undefined && fetch !== builtInFetch) {
    if (isBuiltIn(fetch)) builtInFetch = fetch;
    // Use a replaced fetch only in tests. The fetch of a framework or an APM may return old pages from its cache.
    else if (isTestRun() || isIntercepted()) return { fetch: interceptedFetch };
  }
  const newest = globals[dispatcherSymbol];
  const dispatcher = newest !== undefined && isMockAgent(newest) ? newest : globals[wrapperSymbol];
  return dispatcher !== undefined && isMockAgent(dispatcher) ? { dispatcher } : undefined;
};
