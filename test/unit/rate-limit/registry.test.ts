import { expect, test, vi } from "vitest";
import { documentedLimits } from "../../../src/options/limits.ts";
import { logTo } from "../../../src/options/logger.ts";
import type { Settings } from "../../../src/options/options.ts";
import { systemClock } from "../../../src/runtime/clock.ts";

const place = {
  apiKey: "key of two copies",
  origin: "https://copies.test",
  basePath: "",
  limits: documentedLimits,
  sharing: undefined,
  log: logTo(undefined, "warn"),
};

/** As the ES and the CommonJS copy of the package have it, in one process. */
const twoCopies = async () => {
  const first = await import("../../../src/rate-limit/limiter.ts");
  vi.resetModules();
  const second = await import("../../../src/rate-limit/limiter.ts");
  expect(first.sharedLimiter).not.toBe(second.sharedLimiter);
  // Only what identifies a limiter, and the log.
  const limiterOf = (copy: typeof first, fetch: Settings["fetch"]) =>
    copy.sharedLimiter({ ...place, fetch } as Settings, systemClock);
  return { first, second, limiterOf };
};

test("two copies of the package share the budgets of a key, and tell one fetch from another", async () => {
  const { first, second, limiterOf } = await twoCopies();
  const [mine, theirs] = [async () => new Response(), async () => new Response()];
  const limiter = limiterOf(first, mine);
  expect(limiterOf(second, theirs)).not.toBe(limiter);
  expect(limiterOf(second, mine)).toBe(limiter);
  expect(limiterOf(first, undefined)).toBe(limiterOf(second, undefined));
});

test("in workerd, where no request may wake another, each client has budgets of its own", async () => {
  const { first, limiterOf } = await twoCopies();
  const shared = limiterOf(first, undefined);
  vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
  const [one, other] = [limiterOf(first, undefined), limiterOf(first, undefined)];
  vi.unstubAllGlobals();
  expect(new Set([shared, one, other]).size).toBe(3);
});
