import { expect, test } from "vitest";
import { Client, type ContactInput, type EventInput, isTouchpointError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const scene = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  return { sandbox, client };
};

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

const unsent = "is an accessor or inherited, so it would not be sent; pass a plain object";

/** The same fields in four shapes of which JSON writes none of the `hidden` ones. */
const shapes = (fields: object, hidden: string): [string, object][] => {
  const { [hidden]: value, ...others }: Record<string, unknown> = { ...fields };
  class Row {
    get [hidden]() {
      return value;
    }
  }
  return [
    ["an accessor of its class", Object.assign(new Row(), others)],
    ["inherited", Object.assign(Object.create({ [hidden]: value }), others)],
    ["left out by toJSON", { ...fields, toJSON: () => others }],
    ["not enumerable", Object.defineProperty({ ...others }, hidden, { value, enumerable: false })],
  ];
};

const email = { to: "ada@example.com", subject: "Reminder", text: "Tomorrow." };
const reminder = { ...email, sendAt: new Date(Date.now() + 3_600_000) };

test.each(shapes(reminder, "sendAt"))("schedule refuses a sendAt that is %s", async (_shape, input) => {
  const { sandbox, client } = scene();
  const refused = { code: "input_invalid", issues: [{ path: "sendAt", message: unsent }] };
  await expect(client.emails.schedule(loose(input))).rejects.toMatchObject(refused);
  await expect(client.emails.schedule(loose(input), { once: "key" })).rejects.toMatchObject(refused);
  await expect(client.emails.schedule(loose(input), { dryRun: true })).rejects.toMatchObject(refused);
  await expect(client.emails.scheduled.update("id", loose(input))).rejects.toMatchObject(refused);
  expect(sandbox.state.counts.requests).toBe(0);
});

test.each(shapes({ id: "e1", name: "signed.up", contact: { email: "ada@example.com" } }, "id"))(
  "no event is recorded whose id is %s",
  async (_shape, event) => {
    const { sandbox, client } = scene();
    const issues = [{ path: "id", message: unsent }];
    await expect(client.events.record(loose(event))).rejects.toMatchObject({ issues });
    await expect(client.events.recorder().record(loose(event))).rejects.toMatchObject({ issues });
    await expect(client.events.recordBatch([loose(event)])).rejects.toMatchObject({
      issues: [{ path: "events[0].id", message: unsent }],
    });
    const rejected: string[] = [];
    await client.events.ingest([loose(event)], { onRejected: ({ error }) => void rejected.push(error) });
    expect([rejected, sandbox.state.counts.requests]).toEqual([[`id: ${unsent}`], 0]);
  },
);

test.each(shapes({ companyName: "Analytical", domain: "analytical.example" }, "domain"))(
  "no company is created whose domain is %s",
  async (_shape, input) => {
    const { sandbox, client } = scene();
    const refused = { issues: [{ path: "domain", message: unsent }] };
    await expect(client.companies.create(loose(input))).rejects.toMatchObject(refused);
    await expect(client.companies.update("id", loose(input))).rejects.toMatchObject(refused);
    expect(sandbox.state.counts.requests).toBe(0);
  },
);

test.each(shapes({ email: "ada@example.com", name: "Ada" }, "name"))(
  "no contact is written whose name is %s",
  async (_shape, input) => {
    const { sandbox, client } = scene();
    const refused = { issues: [{ path: "name", message: unsent }] };
    await expect(client.contacts.create(loose(input))).rejects.toMatchObject(refused);
    await expect(client.contacts.upsert(loose(input))).rejects.toMatchObject(refused);
    await expect(client.contacts.update("id", loose(input))).rejects.toMatchObject(refused);
    const rejected: string[] = [];
    await client.contacts.import([loose(input)], { onRejected: ({ error }) => void rejected.push(error) });
    expect([rejected, sandbox.state.contacts]).toEqual([[`name: ${unsent}`], []]);
  },
);

test("a hidden field of a nested object is named by its path", async () => {
  const { client } = scene();
  const contact = Object.create({ email: "ada@example.com" });
  const nested = client.events.record(loose({ name: "signed.up", contact }));
  await expect(nested).rejects.toMatchObject({ issues: [{ path: "contact.email", message: unsent }] });
  const contacts = [Object.assign(Object.create({ title: "Founder" }), { email: "ada@example.com" })];
  const people = client.companies.create(loose({ companyName: "Analytical", contacts }));
  await expect(people).rejects.toMatchObject({ issues: [{ path: "contacts[0].title", message: unsent }] });
});

/** A row as an ORM makes it: fields are accessors of the class, and toJSON writes them. */
class OrmRow {
  readonly #values: ContactInput;
  readonly _options = { isNewRecord: false };
  constructor(values: ContactInput) {
    this.#values = values;
  }
  get email() {
    return this.#values.email;
  }
  get name() {
    return this.#values.name;
  }
  toJSON() {
    return { ...this.#values };
  }
}

test("the row of an ORM is created, upserted and imported with its fields alone", async () => {
  const { sandbox, client } = scene();
  const row = new OrmRow({ email: "ada@example.com", name: "Ada" });
  await client.contacts.create(row);
  await client.contacts.upsert(row);
  await client.contacts.import([row, new OrmRow({ email: "grace@example.com", name: "Grace" })]);
  const bodies = sandbox.state.requests.flatMap(({ body }) => (body === undefined ? [] : [body]));
  expect(bodies).toEqual([
    { email: "ada@example.com", name: "Ada" },
    { email: "ada@example.com", name: "Ada" },
    { name: "Ada" },
    { email: "grace@example.com", name: "Grace" },
  ]);
});

test("an accessor of the input is read once, and what was read is sent", async () => {
  const { sandbox, client } = scene();
  let reads = 0;
  const input = {
    get email() {
      reads += 1;
      return `ada${reads}@example.com`;
    },
  };
  const { contact } = await client.contacts.upsert(input);
  expect([contact.email, reads, sandbox.state.contacts.length]).toEqual(["ada1@example.com", 1, 1]);
});

test("a workspace's schema checks the fields that are sent", async () => {
  const { sandbox } = scene();
  const seen: unknown[] = [];
  const schema = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: (value: unknown) => {
        seen.push(value);
        return { value };
      },
    },
  };
  const options = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch };
  const client = new Client({ ...options, customFields: schema });
  const customFields = { since: new URL("https://a.example"), nested: { toJSON: () => ({ plan: "pro" }) } };
  await client.contacts.create({ email: "ada@example.com", customFields }).catch(() => undefined);
  expect(seen[0]).toEqual({ since: "https://a.example/", nested: { plan: "pro" } });
});

test("an object whose toJSON gives null clears no custom field", async () => {
  const { sandbox, client } = scene();
  const invalidTime = { toJSON: () => null };
  const update = client.contacts.update("id", { customFields: { renewsAt: invalidTime } });
  await expect(update).rejects.toMatchObject({
    issues: [
      {
        path: "customFields.renewsAt",
        message: "must be a value that JSON can represent, but its toJSON returns null",
      },
    ],
  });
  expect(sandbox.state.counts.requests).toBe(0);
});

test("a row with null leaves the field, as upsert does", async () => {
  const { sandbox, client } = scene();
  await client.contacts.create({ email: "ada@example.com", name: "Ada", title: "Countess" });
  const row = loose({ email: "ada@example.com", name: "Ada Lovelace", title: null, phone: null });
  const report = await client.contacts.import([row]);
  expect([report.updated, sandbox.state.contacts[0]]).toMatchObject([
    1,
    { name: "Ada Lovelace", title: "Countess" },
  ]);
});

test("an accessor that throws refuses the call, and nothing is sent", async () => {
  const { sandbox, client } = scene();
  const input = {
    get email(): string {
      throw new Error("not loaded");
    },
  };
  const error = await client.contacts.create(input).catch((reason: unknown) => reason);
  expect(isTouchpointError(error) && [error.code, error.message]).toEqual([
    "input_invalid",
    "contacts.create: the input cannot be read: not loaded",
  ]);
  const event = { name: "signed.up", contact: input } satisfies EventInput;
  await expect(client.events.record(event)).rejects.toMatchObject({ code: "input_invalid" });
  expect(sandbox.state.counts.requests).toBe(0);
});

test("a number of a library without toJSON is refused by name: JSON would write the fields inside", async () => {
  class Long {
    low = 5;
    high = 0;
    toNumber = () => 5;
  }
  const { sandbox, client } = scene();
  await expect(
    client.contacts.create({ email: "ada@example.com", customFields: { plan: { seats: new Long() } } }),
  ).rejects.toMatchObject({
    issues: [
      {
        path: "customFields.plan.seats",
        message: "must not be a Long: JSON would lose its contents; call .toString() on it",
      },
    ],
  });
  expect(sandbox.state.requests).toEqual([]);
});

test("an abort signal without removeEventListener is refused before anything is sent", async () => {
  const { sandbox, client } = scene();
  const signal = loose({ aborted: false, addEventListener: () => undefined });
  await expect(client.contacts.create({ email: "ada@example.com" }, { signal })).rejects.toThrow(
    "signal must be an AbortSignal",
  );
  expect(sandbox.state.requests).toEqual([]);
});
