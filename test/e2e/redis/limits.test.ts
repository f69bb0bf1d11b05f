import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Send } from "../../../src/http/types.ts";
import type { RedisLimitsOptions } from "../../../src/redis/index.ts";
import { member } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { serviceLimiter } from "../../support/service-limiter.ts";

const limit = { max: 50, perMs: 500 };
const call = requestOn(["requests"]);

let server: RedisServer;
let id = 0;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
  id += 1;
});
afterAll(() => server.stop());

const join = (
  next: Send,
  options: (Partial<RedisLimitsOptions> & Parameters<typeof member>[2]) | object = {},
) => {
  const one = member(server.port, next, { id: `test ${id}`, requests: limit, ...options });
  closing.push(one.close);
  return one;
};

/** A service that counts sliding windows, strictly. */
const strict = () => {
  const limiter = serviceLimiter("sliding", limit);
  const next: Send = async ({ weight }) => {
    const early = limiter.ask(weight, performance.now());
    await systemClock.sleep(2);
    return early > 0 ? answered(429, { "retry-after": "1" }) : answered();
  };
  return { limiter, next };
};

/** Callers that send as fast as they are let, until told to stop. */
const saturate = (send: Send, isOver: () => boolean): Promise<unknown> =>
  Promise.all(
    Array.from({ length: limit.max }, async () => {
      while (!isOver()) await send(call);
    }),
  );

/** Runs a fleet for some windows; what happens in between is given. */
const run = async (
  members: readonly { readonly send: Send }[],
  windows: number,
  during: () => Promise<unknown> = async () => undefined,
): Promise<void> => {
  let isOver = false;
  const all = members.map(({ send }) => saturate(send, () => isOver));
  await Promise.all([systemClock.sleep(windows * limit.perMs), during()]);
  isOver = true;
  await Promise.all(all);
};

test("four processes use one limit fully and draw no 429", async () => {
  const { limiter, next } = strict();
  await run([join(next), join(next), join(next), join(next)], 8);
  expect(limiter.refused).toBe(0);
  expect(limiter.accepted / (8 * limit.max)).toBeGreaterThanOrEqual(0.95);
});

test("a process whose clock is a minute ahead does no harm", async () => {
  const { limiter, next } = strict();
  const ahead = {
    ...systemClock,
    now: () => systemClock.now() + 60_000,
    wallTime: () => systemClock.wallTime() + 60_000,
  };
  await run([join(next), join(next, { clock: ahead })], 6);
  expect(limiter.refused).toBe(0);
  expect(limiter.accepted / (6 * limit.max)).toBeGreaterThanOrEqual(0.95);
});

test("an uncontended call makes no round trip", async () => {
  let left = 0;
  const { send } = join(async () => {
    left += 1;
    return answered();
  });
  await send(call);
  const second = send(call);
  // Before anything could have been waited for.
  expect(left).toBe(2);
  await second;
});

test("a pause holds for every process, and one request goes first after it", async () => {
  const left: string[] = [];
  let until = Number.POSITIVE_INFINITY;
  const at =
    (name: string): Send =>
    async () => {
      const now = performance.now();
      left.push(now < until ? `${name} early` : name);
      if (left.length === 3) {
        until = now + 400;
        return answered(429, { "retry-after": "0.4" });
      }
      await systemClock.sleep(150);
      return answered();
    };
  const [a, b] = [join(at("a")), join(at("b"))];
  await Promise.all([a.send(call), b.send(call)]);
  left.splice(0, 2, "start", "start");
  await a.send(call);
  // By then the other one has heard of it.
  await systemClock.sleep(100);
  const rest = [a.send(call), a.send(call), b.send(call), b.send(call)];
  await systemClock.sleep(380);
  expect(left.slice(3).length).toBe(1);
  await Promise.all(rest);
  expect(left.slice(3).filter((name) => name.endsWith("early"))).toEqual([]);
});

test("days are counted together, and outlive the processes", async () => {
  const { next } = strict();
  const day = { requestsPerDay: 5 };
  const first = join(next, day);
  for (let at = 0; at < 3; at += 1) await first.send(call);
  await first.close();
  const second = join(next, day);
  for (let at = 0; at < 2; at += 1) await second.send(call);
  await expect(second.send(call)).rejects.toMatchObject({ name: "RateLimitError", status: 429 });
  expect(second.traffic.state().requestsPerDay).toMatchObject({ used: 5, left: 0 });
  await expect(join(next, day).send(call)).rejects.toMatchObject({ name: "RateLimitError" });
});

test("the share of a process that falls silent returns", async () => {
  const { limiter, next } = strict();
  const [a, b] = [join(next), join(next)];
  await run([a, b], 3);
  // As a killed process: not a word more.
  b.redis.disconnect();
  await systemClock.sleep(limit.perMs + 200);
  const before = limiter.accepted;
  await run([a], 4);
  expect(limiter.refused).toBe(0);
  expect((limiter.accepted - before) / (4 * limit.max)).toBeGreaterThanOrEqual(0.95);
});

test("a flushed Redis is no reason to stop, or to send more", async () => {
  const { limiter, next } = strict();
  const members = [join(next), join(next), join(next)];
  await run(members, 8, async () => {
    await systemClock.sleep(1_700);
    await members[0]?.redis.flushall();
    await members[0]?.redis.script("FLUSH");
  });
  expect(limiter.refused).toBe(0);
  expect(limiter.accepted / (8 * limit.max)).toBeGreaterThanOrEqual(0.9);
});

test("a Redis that is started anew is found again", async () => {
  const { limiter, next } = strict();
  const members = [join(next), join(next)];
  await run(members, 10, async () => {
    await systemClock.sleep(1_000);
    await server.stop();
    await systemClock.sleep(1_000);
    const { accepted } = limiter;
    await systemClock.sleep(500);
    // Closed: nothing is sent meanwhile.
    expect(limiter.accepted).toBe(accepted);
    await server.again();
  });
  expect(limiter.refused).toBe(0);
  const before = limiter.accepted;
  await run(members, 4);
  expect((limiter.accepted - before) / (4 * limit.max)).toBeGreaterThanOrEqual(0.9);
});

test("failing open, each process goes on with its share", async () => {
  const { limiter, next } = strict();
  const open = { onLost: "open", share: 0.4 } as const;
  const members = [join(next, open), join(next, open)];
  await run(members, 12, async () => {
    await systemClock.sleep(1_000);
    await server.stop();
    await systemClock.sleep(1_500);
    const { accepted } = limiter;
    await systemClock.sleep(limit.perMs * 5);
    // Five windows at two shares of 40 %, give or take the burst that falls on an edge.
    expect((limiter.accepted - accepted) / (limit.max * 5)).toBeGreaterThanOrEqual(0.64);
    expect((limiter.accepted - accepted) / (limit.max * 5)).toBeLessThanOrEqual(0.96);
    await server.again();
  });
  expect(limiter.refused).toBe(0);
});
