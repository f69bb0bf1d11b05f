import { expect, test } from "vitest";
import { Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const rejectedBy = async (run: (onRejected: (one: { error: string }) => void) => Promise<unknown>) => {
  const errors: string[] = [];
  await run(({ error }) => void errors.push(error));
  throw new Error(errors.join("; "));
};

const sendAt = "2126-03-02T07:00:00.000Z";
const content = { subject: "Hi", text: "Hi" };

/** Every method that takes an address. */
const ways: Readonly<Record<string, (client: Client, email: string) => Promise<unknown>>> = {
  "contacts.create": (client, email) => client.contacts.create({ email }),
  "contacts.update": (client, email) => client.contacts.update("contact-1", { email }),
  "contacts.upsert": (client, email) => client.contacts.upsert({ email }),
  "contacts.find": (client, email) => client.contacts.find(email),
  "contacts.import": (client, email) =>
    rejectedBy((onRejected) => client.contacts.import([{ email }], { onRejected })),
  "lists.addContacts": (client, email) => client.lists.addContacts("list-1", [email]),
  "lists.removeContacts": (client, email) => client.lists.removeContacts("list-1", [email]),
  "companies.create": (client, email) =>
    client.companies.create({ companyName: "Engines", domain: "engines.example", contacts: [{ email }] }),
  "events.record": (client, email) => client.events.record({ name: "page.viewed", contact: { email } }),
  "events.recordBatch": (client, email) =>
    client.events.recordBatch([{ name: "page.viewed", contact: { email } }]),
  "events.recorder": async (client, email) => {
    await using recorder = client.events.recorder();
    await recorder.record({ name: "page.viewed", contact: { email } });
  },
  "events.ingest": (client, email) =>
    rejectedBy((onRejected) =>
      client.events.ingest([{ id: "e-1", name: "page.viewed", contact: { email } }], { onRejected }),
    ),
  "emails.send": (client, to) => client.emails.send({ ...content, to }),
  "emails.schedule": (client, to) => client.emails.schedule({ ...content, to, sendAt }),
  "emails.scheduled.update": (client, to) => client.emails.scheduled.update("email-1", { to }),
};

const faults: readonly (readonly [string, string])[] = [
  ...[0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060, 0xad, 0x202a, 0x202e, 0x2066, 0x2069, 0x61c].map(
    (code): [string, string] => [
      `ada@exam${String.fromCodePoint(code)}ple.com`,
      `must not contain the invisible character U+${code.toString(16).toUpperCase().padStart(4, "0")}`,
    ],
  ),
  ["a\u{E0041}da@example.com", "must not contain the invisible character U+E0041"],
  ["ada\u2800@example.com", "must not contain the invisible character U+2800"],
  ["ada@example.com\uFE0F", "must not contain the invisible character U+FE0F"],
  ["mailto:ada@example.com", "must be one email address such as ada@example.com, not a mailto: link"],
  ["MailTo:ada@example.com", "must be one email address such as ada@example.com, not a mailto: link"],
  ...[
    ["'ada@example.com'", "“ada@example.com”", "«ada@example.com»", "‚ada@example.com‘", "`ada@example.com`"],
    ["SMTP:ada@example.com", "Email:ada@example.com", "ada@example.com?subject=Hi"],
    [
      "(work)ada@example.com",
      "ada@example.com(work)",
      "[ada@example.com]",
      "ada@example.com/",
      "ada\\@example.com",
    ],
  ]
    .flat()
    .map((address): [string, string] => [address, "must be one email address such as ada@example.com"]),
];

test.each(Object.entries(ways))(
  "%s sends no address with a character that nobody sees, and no link",
  async (_way, call) => {
    const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
    const options = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch };
    const client = new Client({ ...options, limits: false });
    for (const [address, message] of faults)
      await expect(call(client, address), message).rejects.toThrow(message);
    // An import reads the contacts first.
    expect(sandbox.state.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(JSON.stringify(sandbox.state.requests)).not.toMatch(/ple\.com/);
  },
);
