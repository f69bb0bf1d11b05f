import { expect, test } from "vitest";
import { Client, type LogLevel } from "../../src/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

let services = 0;

const scene = (logLevel: LogLevel, answer = (): Response => Response.json({ data: [], total: 0 })) => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const at = (level: string) => (message: string, fields: object) =>
    lines.push(`${clock.now()} ${level} ${message} ${JSON.stringify(fields)}`);
  const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  services += 1;
  const client = new Client(
    {
      ...{
        apiKey: "key",
        baseUrl: `https://waits-${services}.test`,
        fetch: async () => answer(),
        logger,
        logLevel,
      },
      ...{ limits: { requests: { max: 1, windowMs: 20_000 } }, responseValidation: "off" as const },
    },
    { clock, random: () => 0.5 },
  );
  return { clock, lines, client };
};

test("a call logs its wait at info after 1 s and at warn after 10 s, with the limit and the time left", async () => {
  const { clock, lines, client } = scene("info");
  await client.contacts.find("ada@example.com");
  const waiting = client.contacts.find("ada@example.com");
  await clock.advance(999);
  expect(lines).toEqual([]);
  await clock.until(waiting);
  const fields = (waitMs: number) =>
    JSON.stringify({ operation: "contacts.list", waitingFor: "requests", reason: "limit", waitMs });
  expect(lines).toEqual([
    `1000 info touchpoint: still waiting for a limit ${fields(19_003)}`,
    `10000 warn touchpoint: still waiting for a limit ${fields(10_003)}`,
  ]);
  expect(clock.pending).toBe(0);
});

test("a shorter wait is not logged", async () => {
  const { clock, lines, client } = scene("info");
  await client.contacts.find("ada@example.com");
  const refused = client.contacts.list(
    {},
    { maxWaitMs: 25_000, signal: AbortSignal.abort(new Error("over")) },
  );
  await expect(refused).rejects.toThrow("over");
  await clock.advance(30_000);
  expect(lines).toEqual([]);
});

test("a 429 that is waited out is logged with the duration", async () => {
  const answers = [429, 200];
  const { clock, lines, client } = scene("info", () =>
    Response.json(
      { data: [], total: 0 },
      { status: answers.shift() ?? 200, headers: { "retry-after": "30" } },
    ),
  );
  await clock.until(client.contacts.find("ada@example.com"));
  expect(lines[0]).toBe(
    `0 info touchpoint: retrying request ${JSON.stringify({ operation: "contacts.list", attempt: 1, waitMs: 30_000, status: 429 })}`,
  );
});
