type Platform = Pick<typeof globalThis, "Headers" | "ReadableStream" | "Response" | "TextEncoder">;

let own: Platform | undefined;

/** Node's own globals, whatever those of the code around are. */
const ownGlobals = (): Platform =>
  globalThis.process?.getBuiltinModule?.("node:vm").runInThisContext("globalThis") ?? globalThis;

/** The classes of fetch. The environments of tests leave them out, as Jest's jsdom does: there, those of Node itself. */
export const platform = (): Platform => {
  if (typeof globalThis.Response === "function") return globalThis;
  own ??= ownGlobals();
  return own;
};
