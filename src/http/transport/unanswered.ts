import type { AsyncLocalStorage } from "node:async_hooks";

type Verdict = "held" | "let pass" | "unanswered";

/** What MSW has decided about one request so far; undefined while it has not looked at it. */
interface Watch {
  verdict: Verdict | undefined;
}

/** What listeners of the interceptors below MSW 2 and nock 14 receive. */
interface Intercepted {
  readonly controller: { readonly readyState: number; errorWith(reason: Error): void };
}

/** The interceptor of fetch that MSW 2 and nock 14 share. */
interface Interceptor {
  on(event: "request", listener: (intercepted: Intercepted) => void): void;
  off(event: "request", listener: (intercepted: Intercepted) => void): void;
}

const isInterceptor = (value: unknown): value is Interceptor =>
  typeof value === "object" && value !== null && "on" in value && "off" in value;

const pending = 0;
const refusal =
  "[MSW] a handler matched the request and did not answer it: return passthrough() to let it leave";

/**
 * MSW only tells the server, which the test holds, whether a handler matched. But it lets every request pass by one
 * method, which `resolve` calls if a handler matched and a promise's callback calls if none did.
 */
const verdictOf = (stack: readonly string[]): Verdict | undefined => {
  const at = stack.findIndex((line) => /^\s*at \S+\.passthrough \(/.test(line));
  if (at === -1) return undefined;
  return /^\s*at \S+\.resolve \(/.test(stack[at + 1] ?? "") ? "unanswered" : "let pass";
};

/** MSW reads `x-msw-intention` from what a handler answered, and `accept` from each request, first and last. */
const note = (watch: Watch, name: string, value: string | null): void => {
  if (name === "x-msw-intention" && value === "passthrough") watch.verdict = "let pass";
  if (name !== "accept" || watch.verdict === "let pass") return;
  watch.verdict = verdictOf((new Error().stack ?? "").split("\n")) ?? "held";
};

let storage: AsyncLocalStorage<Watch> | undefined;
let watches = 0;
let unwatch = (): void => {};

/** Watches what is read from headers, as long as a request is with MSW. */
const begin = (): (() => void) => {
  watches += 1;
  if (watches === 1) {
    const { prototype } = globalThis.Headers;
    const { get } = prototype;
    const watched = function (this: Headers, name: string): string | null {
      const value = get.call(this, name);
      const watch = storage?.getStore();
      if (watch !== undefined) note(watch, name, value);
      return value;
    };
    Reflect.set(prototype, "get", watched);
    unwatch = () => {
      if (prototype.get === watched) Reflect.set(prototype, "get", get);
    };
  }
  return () => {
    watches -= 1;
    if (watches === 0) unwatch();
  };
};

/**
 * Calls a fetch that `interceptor` sees, and refuses the request if a handler of MSW matched it and did not answer: MSW
 * would let it pass to the network. A request that no handler matched, or for which a handler returned `passthrough()`,
 * passes; so does what other interceptors let pass.
 */
export const refusingUnanswered = async <R>(interceptor: unknown, fetch: () => Promise<R>): Promise<R> => {
  const hooks = globalThis.process?.getBuiltinModule?.("node:async_hooks");
  if (!isInterceptor(interceptor) || hooks === undefined) return fetch();
  storage ??= new hooks.AsyncLocalStorage();
  const own = storage;
  const watch: Watch = { verdict: undefined };
  const judge = ({ controller }: Intercepted): void => {
    if (own.getStore() !== watch || controller.readyState !== pending) return;
    if (watch.verdict === undefined || watch.verdict === "let pass") return;
    controller.errorWith(new Error(refusal));
  };
  const end = begin();
  // Registered for this call, to be the last listener.
  interceptor.on("request", judge);
  try {
    return await own.run(watch, fetch);
  } finally {
    interceptor.off("request", judge);
    end();
  }
};
