import fc from "fast-check";
import { expect, test } from "vitest";
import { Client, type ValidationNotice } from "../../src/index.ts";
import { randomCases } from "../support/random-cases.ts";

const answered = async (body: string) => {
  const notices: ValidationNotice[] = [];
  const client = new Client({
    apiKey: "key",
    baseUrl: "https://crm.test",
    fetch: async () => new Response(body, { headers: { "content-type": "application/json" } }),
    limits: false,
    hooks: { onValidationIssue: (notice) => void notices.push(notice) },
  });
  const page = await client.contacts.list();
  // The contact lacks other fields.
  const issues = notices.flatMap((notice) => notice.issues);
  return { page, lost: issues.filter(({ message }) => message.includes("JSON number")) };
};

const bodyWith = (order: string, pad = "") =>
  `{"data":[{"id":"c-1","email":"ada@x.io","name":"${pad}","customFields":{"order":${order}}}],"total":1,"skip":0,"limit":50}`;

test("a response's number beyond JSON's range is returned as parsed, and reported with its path", async () => {
  const { page, lost } = await answered(bodyWith("1234567890123456781"));
  expect(page.data[0]?.customFields).toEqual({ order: Number("1234567890123456781") });
  const message = "1234567890123456781 is too large for a JSON number";
  expect(lost).toEqual([{ path: "data[0].customFields.order", message }]);
});

test("such a number is found anywhere in the body, and the digits of a text are ignored", async () => {
  const digits = fc.integer({ min: 17, max: 30 }).map((length) => "1234567890".repeat(3).slice(0, length));
  const padding = fc.integer({ min: 0, max: 40 }).map((length) => "x".repeat(length));
  await fc.assert(
    fc.asyncProperty(digits, padding, async (number, pad) => {
      expect((await answered(bodyWith(number, pad))).lost).toHaveLength(1);
      expect((await answered(bodyWith(`"${number}"`, pad))).lost).toEqual([]);
    }),
    { numRuns: randomCases(60) },
  );
});
