import { expect, test } from "vitest";
import { BadRequestError, Client, isSendRefused, refusedStages } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";

test("an email is refused to the five stages of the document, and to no other", () => {
  expect(refusedStages).toEqual(["REPLIED", "BOUNCED", "UNSUBSCRIBED", "CONVERTED", "DEAD"]);
  expect(refusedStages.filter((stage) => !isSendRefused({ stage }))).toEqual([]);
  expect(["NEW", "", "DEADLINE", "undead"].filter((stage) => isSendRefused({ stage }))).toEqual([]);
});

test("an email to an address without a contact is refused for no stage", () => {
  expect([isSendRefused(null), isSendRefused(undefined)]).toEqual([false, false]);
});

test("the letter case of a stage does not matter, here or in the sandbox", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"] });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  for (const stage of ["dead", "Replied", "UNSUBSCRIBED", "new"]) {
    const to = `${stage}@example.com`;
    const contact = await client.contacts.create({ email: to });
    const written = await client.contacts.update(contact.id, { stage });
    const sent = await client.emails.send({ to, subject: "Hi", text: "Hi" }).catch((error: unknown) => error);
    expect([stage, isSendRefused(written), sent instanceof BadRequestError]).toEqual([
      stage,
      stage !== "new",
      stage !== "new",
    ]);
  }
});
