import { beforeEach } from "vitest";

// Clients of one key share their limits in the whole process, and files of tests share a process.
beforeEach(() => {
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (symbol.description?.startsWith("touchpoint-sdk.budgets")) Reflect.deleteProperty(globalThis, symbol);
});
