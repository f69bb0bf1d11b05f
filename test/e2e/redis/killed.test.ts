import { spawn } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { member } from "../../support/fleet.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { compile, root } from "../../support/programs.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { usesOf } from "./counting.ts";

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

test("the permits of a killed process come back, however long its requests could have taken", async () => {
  const id = "died while it waited";
  const args = [program, String(server.port), id, "2", "hangs"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let sent = "";
  for await (const chunk of child.stdout) {
    sent += String(chunk);
    if (sent.length === 2) break;
  }
  const options = { id, requests: { max: 2, windowMs: 500 } };
  const { limiter, send, close } = member(server.port, async () => answered(), options);
  onTestFinished(close);
  const answer = send(requestOn(["requests"]));
  await redis.ping();
  const before = limiter.state().requests.waiting.interactive;
  child.kill("SIGKILL");
  expect([before, (await answer).status]).toEqual([1, 200]);
});

/** Runs a process that makes seven calls and dies with the last answer. */
const run = async (id: string, how: string): Promise<number | null> => {
  const args = [program, String(server.port), id, "7", how];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [code] = await once(child, "exit");
  return code;
};

test.each(["exit", "SIGKILL"])(
  "if processes die by %s with their last response, the day's count is exact",
  async (how) => {
    const id = `died by ${how}`;
    // Four of them use 28 of the 30, the last two of which the fifth and sixth get.
    const codes = await Promise.all(Array.from({ length: 6 }, () => run(id, how)));
    expect(codes.filter((code) => code === 3).length).toBeGreaterThanOrEqual(2);
    expect(await usesOf(redis, id)).toBe(30);
    const { limiter, send, close } = member(server.port, async () => answered(), { id, requestsPerDay: 30 });
    onTestFinished(close);
    await expect(send(requestOn(["requests"]))).rejects.toMatchObject({ name: "RateLimitError" });
    expect(limiter.state().requestsPerDay.used).toBe(30);
  },
);
