import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Client, type ClientOptions } from "../../src/index.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

setFlagsFromString("--expose-gc");
const gc: () => void = runInNewContext("gc");

/** Lets the garbage collector take every client that nothing refers to. */
const forget = async (): Promise<void> => {
  for (let round = 0; round < 3; round += 1) {
    await turn();
    gc();
  }
};

/** Jobs with a client each, which is closed with its job. */
const jobs = (answer: () => Response, options: ClientOptions = {}) => {
  const clock = new FakeClock();
  const sentAt: number[] = [];
  const fetch = async (): Promise<Response> => {
    sentAt.push(Math.floor(clock.now()));
    return answer();
  };
  const baseUrl = "https://remembered.test";
  const runtime = { clock, random: () => 0.5 };
  const job = async (apiKey = "key"): Promise<void> => {
    // Each job has a fetch of its own: the service counts by the key, whatever carries a request.
    const own = { apiKey, baseUrl, fetch: () => fetch(), maxRetries: 0, ...options };
    await using client = new Client(own, runtime);
    await client.request({ method: "POST", path: "/api/v1/emails", body: {} });
  };
  return { clock, sentAt, job };
};

const limits = { emails: { max: 2, windowMs: 60_000 }, emailsPerDay: 3 };

test("the client of a job keeps the limits of earlier jobs, even after garbage collection", async () => {
  const { clock, sentAt, job } = jobs(() => Response.json({}), { limits });
  for (let count = 0; count < 3; count += 1) {
    await clock.until(job());
    await forget();
  }
  expect(sentAt).toEqual([0, 0, 60_007]);
  await expect(job()).rejects.toMatchObject({ code: "rate_limited", limit: "emailsPerDay" });
});

test("a pause outlives the client that it stopped", async () => {
  let status = 429;
  const { clock, sentAt, job } = jobs(() => Response.json({}, { status, headers: { "retry-after": "30" } }));
  await expect(clock.until(job())).rejects.toMatchObject({ status: 429 });
  await forget();
  status = 200;
  await clock.until(job());
  expect(sentAt).toEqual([0, 30_000]);
});

test("after a day, old requests no longer count, and no timer waits for that", async () => {
  const { clock, sentAt, job } = jobs(() => Response.json({}), { limits });
  for (let count = 0; count < 3; count += 1) await clock.until(job());
  expect(clock.pending).toBe(0);
  await clock.advance(86_640_000);
  await job("another");
  await forget();
  await job();
  expect(sentAt).toEqual([0, 0, 60_007, 86_700_007, 86_700_007]);
});
