import { expect, test } from "vitest";
import { Client, ResponseValidationError } from "../../src/index.ts";

const contact = (number: number) => ({
  ...{ id: `contact_${number}`, email: `p${number}@example.com`, name: null, title: null, phone: null },
  ...{ linkedIn: null, notes: null, stage: "NEW", source: "MANUAL", verified: true, emailConfidence: null },
  ...{ customFields: {}, leadId: null, listIds: [], createdAt: "2026-01-31T09:00:00.000Z" },
  updatedAt: "2026-01-31T09:00:00.000Z",
});

/** The paths that a client reports for a page of 60 contacts, of which some have no `email`. */
const reported = async (isWrong: (number: number) => boolean): Promise<readonly string[]> => {
  const people = Array.from({ length: 60 }, (_, number) => {
    const { email, ...rest } = contact(number);
    return isWrong(number) ? rest : { email, ...rest };
  });
  const client = new Client({
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: async () => Response.json({ data: people, total: 60, skip: 0, limit: 200 }),
    responseValidation: "strict",
  });
  const error = await client.contacts.list({ limit: 200 }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof ResponseValidationError ? error.issues.map(({ path }) => path) : [];
};

test("a valid page has no issues", async () => {
  expect(await reported(() => false)).toEqual([]);
});

test("of a page that is wrong throughout, the first 20 faults are reported", async () => {
  expect(await reported(() => true)).toEqual(Array.from({ length: 20 }, (_, n) => `data[${n}].email`));
});

test("a single invalid record is reported wherever it is", async () => {
  expect(await reported((number) => number === 3)).toEqual(["data[3].email"]);
  expect(await reported((number) => number === 57)).toEqual(["data[57].email"]);
});
