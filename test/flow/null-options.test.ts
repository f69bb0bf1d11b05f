import { expect, test } from "vitest";
import { Client, ConfigurationError } from "../../src/index.ts";
import { redisLimits } from "../../src/redis/index.ts";

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

test("null in place of the recorder's options means no options", async () => {
  await using client = new Client({ apiKey: "key", baseUrl: "http://localhost" });
  expect(client.events.recorder(loose(null)).pending).toBe(0);
});

test.each([[null], [undefined]])("redisLimits without options, %j, reports what is missing", (options) => {
  const redis = loose({ evalsha: () => undefined, eval: () => undefined });
  const make = () => redisLimits(redis, loose(options));
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow("redisLimits: id must be a non-empty string, got undefined");
});
