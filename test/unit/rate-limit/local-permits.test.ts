import { expect, test, vi } from "vitest";
import type { PermitHolder } from "../../../src/options/shared-limits.ts";
import { LocalPermits } from "../../../src/rate-limit/local-limits.ts";

/** What a budget holds of its limit, and lacks now; each grant as it comes. */
const holding = (max: number, lacking = 0) => {
  const permits = new LocalPermits(max);
  const granted: number[] = [];
  const holder = {
    leased: permits.initial,
    lacking,
    grant: (count: number) => {
      granted.push(count);
      holder.leased += count;
    },
  };
  // All that it looks at.
  permits.attach(holder as unknown as PermitHolder);
  return { permits, holder, granted };
};

test("a first block is in hand at once: a twentieth of the limit, and 25 at least if there are as many", () => {
  expect([10, 100, 510, 2_000].map((max) => new LocalPermits(max).initial)).toEqual([10, 25, 26, 100]);
});

test("a single process shares with no other and is never out of reach", () => {
  const { isShared, isValid, lost, usedElsewhere } = new LocalPermits(10);
  expect([isShared, isValid, lost, usedElsewhere]).toEqual([false, true, undefined, 0]);
});

test("no call waits for bottleneck: what is lacking is granted at once, in blocks, up to the limit", () => {
  const { permits, holder, granted } = holding(510);
  for (const lacking of [3, 40, 900, 1]) {
    holder.lacking = lacking;
    permits.want();
  }
  expect([granted, holder.leased]).toEqual([[26, 40, 418], 510]);
});

test("bottleneck is not loaded for those who need no more than the first block", async () => {
  const load = vi.fn(() => ({ default: class {} }));
  vi.doMock("bottleneck/light", load);
  const { permits } = holding(100);
  permits.settled();
  await Promise.resolve();
  expect(load).not.toHaveBeenCalled();
  vi.doUnmock("bottleneck/light");
});

test("bottleneck holds every permit in a running job once a request has ended, and none after the end", async () => {
  const jobs: number[] = [];
  let running = 0;
  vi.doMock("bottleneck/light", () => ({
    default: class {
      async schedule({ weight }: { readonly weight: number }, job: () => Promise<void>): Promise<void> {
        jobs.push(weight);
        running += weight;
        await job();
        running -= weight;
      }
    },
  }));
  const { permits, holder } = holding(100, 10);
  permits.want();
  expect(jobs).toEqual([]);
  permits.settled();
  permits.settled();
  await vi.waitFor(() => expect(jobs).toEqual([35]));
  holder.lacking = 65;
  permits.want();
  await vi.waitFor(() => expect([jobs, running]).toEqual([[35, 65], 100]));
  await permits.close();
  await vi.waitFor(() => expect(running).toBe(0));
  permits.want();
  await Promise.resolve();
  expect(jobs).toEqual([35, 65]);
  vi.doUnmock("bottleneck/light");
});
