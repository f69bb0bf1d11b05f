/** Runs a callback in a captured async context. */
type RunInContext = (callback: () => void) => void;

const runHere: RunInContext = (callback) => callback();

// Don't import `node:async_hooks`, because some runtimes lack it. In those runtimes, hooks run in the async context of
// the code that ends a wait.
const snapshotOf = () =>
  globalThis.process?.getBuiltinModule?.("node:async_hooks").AsyncLocalStorage.snapshot;

let snapshot: ReturnType<typeof snapshotOf> | null;

/** Captures the caller's async context, for a callback that runs as a result of other calls. */
export const captureContext = (): RunInContext => {
  if (snapshot === undefined) snapshot = snapshotOf() ?? null;
  return snapshot === null ? runHere : snapshot();
};
