import type { Dispatcher, Fetch } from "../../options/options.ts";

/** What a test has put in the place of the network. */
export type TestDouble = { readonly fetch: Fetch } | { readonly dispatcher: Dispatcher };

// undici 7 keeps its global dispatcher under the first; undici 8 under the second, and a wrapper under the first.
const dispatcherSymbols = [Symbol.for("undici.globalDispatcher.2"), Symbol.for("undici.globalDispatcher.1")];

// The interceptors of MSW 2 and nock 14 are registered here while they are in place.
const interceptorSymbol = Symbol.for("fetch-interceptor");

const isTestRun = (): boolean => {
  const { VITEST, JEST_WORKER_ID, NODE_TEST_CONTEXT } = process.env;
  return [VITEST, JEST_WORKER_ID, NODE_TEST_CONTEXT].some((value) => value !== undefined);
};

/** Those of MSW 3 and nock 15 replace `Headers` too, and mark it. */
const isMarked = (): boolean =>
  Reflect.has(globalThis, interceptorSymbol) ||
  Object.getOwnPropertySymbols(globalThis.Headers).some(
    ({ description }) => description === "kRestorePatches",
  );

// Node's own fetch is a small function that loads undici; that of other runtimes shows its name and no source. A Proxy,
// such as a mock of node:test, shows neither.
const isBuiltIn = (fetch: unknown): boolean =>
  typeof fetch === "function" &&
  /fetchImpl|lazyUndici|^function fetch\(\)\s*\{\s*\[native code\]/.test(
    Function.prototype.toString.call(fetch),
  );

// Reading a function's source costs more than a call does: once for each function.
let builtIn: unknown;

/** A fetch that a framework or an APM has wrapped is none: an export would come from its cache. */
const fetchDouble = (): TestDouble | undefined => {
  const { fetch } = globalThis;
  if (fetch === undefined || fetch === builtIn) return undefined;
  if (isBuiltIn(fetch)) builtIn = fetch;
  else if (isTestRun() || isMarked()) return { fetch: doubled };
  return undefined;
};

const doubled: Fetch = (url, init) => {
  // Node's types do not know `cache`, which every fetch takes.
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
 * The test double that the default transport's requests go to; undefined where nobody intercepts. Looked for at each
 * request, as a test may put it in place after the client was made.
 */
export const testDouble = (): TestDouble | undefined => {
  const found = fetchDouble();
  if (found !== undefined) return found;
  for (const symbol of dispatcherSymbols) {
    const dispatcher: unknown = Reflect.get(globalThis, symbol);
    if (isMockAgent(dispatcher)) return { dispatcher };
  }
  return undefined;
};
