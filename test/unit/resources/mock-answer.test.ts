import { expect, test } from "vitest";
import { Client, mockAnswer } from "../../../src/index.ts";

test("a mocked method answers like the method itself", async () => {
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost" });
  client.companies.findByDomain = () => mockAnswer(null, { status: 404, attempts: 2 });
  expect(await client.companies.findByDomain("engines.example")).toBeNull();
  expect(await client.companies.findByDomain("engines.example").withResponse()).toEqual({
    data: null,
    response: { status: 404, headers: new Headers(), attempts: 2, waitedMs: 0 },
  });
});
