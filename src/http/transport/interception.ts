import type { Dispatcher, Fetch } from "../../options/fetch.ts";

/** The replacement of the network in a test. */
export type TestDouble = { readonly fetch: Fetch } | { readonly dispatcher: Dispatcher };

// undici 8 stores its global dispatcher under the first, and a wrapper under the second; undici 7 uses the second.
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

/** Whether MSW 3 or nock 15 is active: they replace `Headers`, too, and mark it. */
const isMarked = (): boolean =>
  Reflect.has(globalThis, interceptorSymbol) ||
  Object.getOwnPropertySymbols(globalThis.Headers).some(
    ({ description }) => description === "kRestorePatches",
  );

// The source of Node's own fetch is a small function that loads undici; other runtimes show its name without a source. A
// Proxy, such as a mock of node:test, shows neither.
const isBuiltIn = (fetch: unknown): boolean =>
  typeof fetch === "function" &&
  /fetchImpl|lazyUndici|^function fetch\(\)\s*\{\s*\[native code\]/.test(
    Function.prototype.toString.call(fetch),
  );

// Reading a function's source takes longer than a call, so do it once per function.
let builtIn: unknown;

const doubled: Fetch = (url, init) => {
  // Node's types lack `cache`, which every fetch accepts.
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
 * The test double that gets the requests of the default transport; undefined if there is none. Called for each request,
 * because a test may set it up after it created the client.
 */
export const testDouble = (): TestDouble | undefined => {
  const { fetch } = globalThis;
  if (fetch !== undefined && fetch !== builtIn) {
    if (isBuiltIn(fetch)) builtIn = fetch;
    // A fetch that a framework or an APM has wrapped doesn't count, because its cache would serve the pages of an
    // export.
    else if (isTestRun() || isMarked()) return { fetch: doubled };
  }
  const newest = globals[dispatcherSymbol];
  const dispatcher = newest !== undefined && isMockAgent(newest) ? newest : globals[wrapperSymbol];
  return dispatcher !== undefined && isMockAgent(dispatcher) ? { dispatcher } : undefined;
};
