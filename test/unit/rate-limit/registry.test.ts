import { expect, test, vi } from "vitest";
import { documentedLimits } from "../../../src/options/limits.ts";
import type { Settings } from "../../../src/options/options.ts";
import { systemClock } from "../../../src/runtime/clock.ts";

const place = {
  apiKey: "key of two copies",
  origin: "https://copies.test",
  basePath: "",
  limits: documentedLimits,
  sharing: undefined,
};

/** As the ES and the CommonJS copy of the package have it, in one process. */
const twoCopies = async () => {
  const first = await import("../../../src/rate-limit/registry.ts");
  vi.resetModules();
  const second = await import("../../../src/rate-limit/registry.ts");
  expect(first.sharedTraffic).not.toBe(second.sharedTraffic);
  // Only what tells one traffic from another.
  const trafficOf = (copy: typeof first, fetch: Settings["fetch"]) =>
    copy.sharedTraffic({ ...place, fetch } as Settings, systemClock);
  return { first, second, trafficOf };
};

test("two copies of the package share the budgets of a key, and tell one fetch from another", async () => {
  const { first, second, trafficOf } = await twoCopies();
  const [mine, theirs] = [async () => new Response(), async () => new Response()];
  const traffic = trafficOf(first, mine);
  expect(trafficOf(second, theirs)).not.toBe(traffic);
  expect(trafficOf(second, mine)).toBe(traffic);
  expect(trafficOf(first, undefined)).toBe(trafficOf(second, undefined));
});
