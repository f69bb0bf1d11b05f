import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { redisLedger } from "../../../src/redis/index.ts";
import { compile, root } from "../../support/programs.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { runJobKills } from "../job-kills.ts";

const [program = ""] = await compile("bullmq", [`${root}examples/jobs/bullmq-worker.ts`]);

test("every queued email is sent once, while workers are killed", async () => {
  const server = await RedisServer.start();
  const redis = new Redis(server.port, "127.0.0.1", { maxRetriesPerRequest: null });
  const queue = new Queue("welcome-emails", { connection: redis });
  onTestFinished(async () => {
    await queue.close();
    redis.disconnect();
    await server.stop();
  });
  const users = Array.from({ length: 10 }, (_, at) => `user-${at}`);
  const add = async (user: string): Promise<void> =>
    void (await queue.add("welcome", { user, to: `${user}@example.com` }));
  for (const user of users) await add(user);
  const tally = await runJobKills(users, 4, {
    program,
    env: { REDIS_URL: `redis://127.0.0.1:${server.port}`, LOCK_MS: "1000" },
    ledger: redisLedger(redis),
    again: add,
    tick: async () => undefined,
  });
  console.log(JSON.stringify(tally));
  expect(tally).toMatchObject({ kills: 4, emails: users.length, wrong: [] });
});
