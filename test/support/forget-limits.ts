import { beforeEach } from "vitest";

// In one process, clients with the same key share their limits, and test files share a process.
beforeEach(() => {
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (symbol.description?.startsWith("touchpoint-sdk.budgets")) Reflect.deleteProperty(globalThis, symbol);
});
