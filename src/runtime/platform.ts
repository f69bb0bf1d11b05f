type Platform = Pick<typeof globalThis, "Headers" | "ReadableStream" | "Response" | "TextEncoder">;

let own: Platform | undefined;

/** Node's own globals, even if the environment of a test has replaced them. */
const ownGlobals = (): Platform =>
  globalThis.process?.getBuiltinModule?.("node:vm").runInThisContext("globalThis") ?? globalThis;

/** The classes of fetch. If a test environment lacks them, as Jest's jsdom does, it returns those of Node itself. */
export const platform = (): Platform => {
  if (typeof globalThis.Response === "function") return globalThis;
  own ??= ownGlobals();
  return own;
};
