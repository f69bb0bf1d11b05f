import { type ChildProcess, spawn } from "node:child_process";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { aliveMs } from "../../../src/redis/shared-leases.ts";
import { member } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { compile, root } from "../../support/programs.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { countingOn, limit, usesOf, whenWholeIsUsed } from "./counting.ts";

const [program = ""] = await compile("killed", [`${root}test/e2e/redis/killed-child.ts`]);

let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  redis = new Redis(server.port, "127.0.0.1");
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const start = (id: string, calls: number): ChildProcess => {
  const args = [program, String(server.port), id, String(calls)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
};

const kill = (child: ChildProcess): Promise<NodeJS.Signals | null> =>
  new Promise((resolve) => {
    child.once("exit", (_code, signal) => resolve(signal));
    child.kill("SIGKILL");
  });

/** What the only process there is said with its last heartbeat. */
const lastWord = async (id: string) => {
  const records = Object.entries(await redis.hgetall(`touchpoint:{${id}}:requests:leases`));
  const [, record = "{}"] = records.find(([name]) => name.startsWith("process:")) ?? [];
  const {
    held = 0,
    want = 0,
    seenAt = 0,
  }: { held?: number; want?: number; seenAt?: number } = JSON.parse(record);
  return { held, wanted: want, seenAtMs: seenAt };
};

/** Waits until it has used the whole limit, and has said so: nothing that it used is later than its last word. */
const whenTaken = async (id: string, wanted: number): Promise<number> => {
  await whenWholeIsUsed(redis, id);
  const usedAtMs = ((await usesOf(redis, id)).at(-1)?.atMicros ?? Number.POSITIVE_INFINITY) / 1_000;
  for (;;) {
    const word = await lastWord(id);
    if (word.held === limit.max && word.wanted === wanted && word.seenAtMs > usedAtMs) return word.seenAtMs;
  }
};

/** Answers all at once, when there are as many as the limit: who gets an answer has seen the whole limit used. */
const together = () => {
  let left = limit.max;
  let open: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return async () => {
    left -= 1;
    if (left === 0) open();
    await all;
    return answered();
  };
};

test.each([
  ["with all its requests under way", limit.max, 0],
  ["while more of its calls wait", limit.max + 10, 1],
])(
  "all that a process held that is killed %s is back, and no sooner than is safe",
  async (how, calls, wanted) => {
    const id = `killed ${how}`;
    const child = start(id, calls);
    const toldAtMs = await whenTaken(id, wanted);
    expect(await kill(child)).toBe("SIGKILL");
    const seenAtMs = Math.max(toldAtMs, (await lastWord(id)).seenAtMs);

    const survivor = member(server.port, countingOn(redis, { id, by: "survivor" }, together()), {
      id,
      requests: limit,
    });
    const sends = Array.from({ length: limit.max }, () => survivor.send(requestOn(["requests"])));
    await Promise.all(sends);
    await survivor.close();

    const uses = await usesOf(redis, id);
    const whole = (by: string): readonly string[] => Array.from({ length: limit.max }, () => by);
    expect(uses.map(({ by }) => by)).toEqual([...whole("child"), ...whole("survivor")]);
    // As a service counts: from one use to the one that is a whole limit later it takes a window.
    const apartMicros = uses
      .slice(limit.max)
      .map((use, at) => use.atMicros - (uses[at]?.atMicros ?? use.atMicros));
    expect(apartMicros.filter((micros) => micros < limit.perMs * 1_000)).toEqual([]);
    // It could have sent until its last word was too old; nobody can know that it did not.
    const safeAtMs = seenAtMs + aliveMs(limit.perMs) + limit.perMs;
    const usedAtMs = uses.slice(limit.max).map(({ atMicros }) => atMicros / 1_000);
    expect(usedAtMs.filter((atMs) => atMs <= safeAtMs)).toEqual([]);
    const lateMs = Math.max(...usedAtMs) - safeAtMs;
    console.log(`killed ${how}: all of it is used again ${lateMs.toFixed(1)} ms after that is safe`);
  },
);
