type Platform = Pick<typeof globalThis, "Headers" | "ReadableStream" | "Response" | "TextEncoder">;

let own: Platform | undefined;

/** Returns Node's own globals, even if the environment of a test has replaced them. */
const ownGlobals = (): Platform =>
  globalThis.process?.getBuiltinModule?.("node:vm").runInThisContext("globalThis") ?? globalThis;

/**
 * Returns the classes of fetch: the global ones, or Node's own if a test environment lacks them, as Jest's jsdom does.
 */
export const platform = (): Platform => {
  if (typeof globalThis.Response === "function") return globalThis;
  own ??= ownGlobals();
  return own;
};
