/** Runs a callback in the async context that was captured. */
type RunInContext = (callback: () => void) => void;

const runHere: RunInContext = (callback) => callback();

// Not imported, because a runtime without it can do without: hooks then run in the context of whatever ends a wait.
const snapshotOf = () =>
  globalThis.process?.getBuiltinModule?.("node:async_hooks").AsyncLocalStorage.snapshot;

let snapshot: ReturnType<typeof snapshotOf> | null;

/** Captures the caller's async context, for a callback that other calls cause. */
export const captureContext = (): RunInContext => {
  if (snapshot === undefined) snapshot = snapshotOf() ?? null;
  return snapshot === null ? runHere : snapshot();
};
