import { expect, test } from "vitest";
import { Client, type ValidationNotice } from "../../src/index.ts";
import { aContact } from "../support/builders.ts";

const contact = (n: number) => aContact(`c${n}`);

test("an order that changes while a list is read is reported once, and not hidden", async () => {
  const people = Array.from({ length: 600 }, (_, n) => contact(n));
  const fetch = async (url: string): Promise<Response> => {
    const query = new URL(url).searchParams;
    const [skip, limit] = [Number(query.get("skip")), Number(query.get("limit"))];
    const data = people.slice(skip, skip + limit);
    // The two records that a page shares with the one before have changed places.
    if (skip > 0) data.splice(0, 2, ...data.slice(0, 2).reverse());
    return Response.json({ data, total: people.length, skip, limit });
  };
  const notices: ValidationNotice[] = [];
  const hooks = { onValidationIssue: (notice: ValidationNotice) => void notices.push(notice) };
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false, hooks });

  await client.contacts.list().toArray();

  expect(notices).toEqual([
    { operation: "contacts.list", issues: [{ path: "data", message: expect.stringContaining("order") }] },
  ]);
});
