import { expect, test } from "vitest";
import { BadRequestError, Client, ConfigurationError, ValidationError } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const scene = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch });
  return { sandbox, client };
};

// What JavaScript lets through, and the types do not.
const loose = (value: unknown): never => value as never;

test("a misspelt option of long work is refused, and nothing is read", async () => {
  const { client } = scene();
  await expect(client.events.ingest([], loose({ checkpont: "x" }))).rejects.toThrow(/no option "checkpont"/);
  await expect(client.contacts.import([], loose({ add_to_list: "x" }))).rejects.toThrow(
    /no option "add_to_list"/,
  );
  await expect(client.events.ingest([], loose({ checkpoint: 5, onRejected: 1 }))).rejects.toThrow(
    "events.ingest: checkpoint must be a path, or a store with load and save, got 5; onRejected must be a function, got 1",
  );
});

test.each([["events.ndjson"], [undefined], [5], [null]])("%j is no source of long work", async (source) => {
  const { sandbox, client } = scene();
  await expect(client.events.ingest(loose(source))).rejects.toBeInstanceOf(ValidationError);
  await expect(client.contacts.import(loose(source))).rejects.toBeInstanceOf(ValidationError);
  expect(sandbox.state.requests).toEqual([]);
});

class Hidden {
  readonly #inner = "REPLIED";
  get inner() {
    return this.#inner;
  }
}

test.each([
  [new Date(0), "must be an object with fields, not a Date"],
  [new Headers(), "must not be a Headers: JSON would lose its content"],
  [new Map([["stage", "REPLIED"]]), "must not be a Map: JSON would lose its content"],
  [new Hidden(), "must not be a Hidden: JSON would lose its content"],
  [Buffer.from("REPLIED"), "must not be bytes, because the client sends JSON"],
  [new Uint16Array(2), "must not be bytes, because the client sends JSON"],
  [[], "must be an object"],
])("%o is no patch and no query, and nothing is sent", async (value, message) => {
  const { sandbox, client } = scene();
  const refused = { code: "input_invalid", issues: [{ path: "", message }] };
  await expect(client.contacts.update("c-1", loose(value))).rejects.toMatchObject(refused);
  await expect(client.companies.update("co-1", loose(value))).rejects.toMatchObject(refused);
  await expect(client.emails.scheduled.update("s-1", loose(value))).rejects.toMatchObject(refused);
  await expect(client.contacts.list(loose(value))).rejects.toMatchObject(refused);
  expect(sandbox.state.requests).toEqual([]);
});

test("an instance with fields of its own is a patch", async () => {
  const { client } = scene();
  const { id } = await client.contacts.create({ email: "ada@example.com" });
  const patch = Object.assign(new Hidden(), { name: "Ada" });
  expect(await client.contacts.update(id, patch)).toMatchObject({ name: "Ada" });
});

test("a key for once in the wrong argument is refused: without it the email could go out twice", async () => {
  const { sandbox, client } = scene();
  const email = { to: "ada@example.com", subject: "Hi", text: "Hi", once: "welcome:1" };
  await expect(client.emails.send(loose(email))).rejects.toThrow(/once: belongs in the second argument/);
  const scheduled = { ...email, sendAt: "2030-01-01T00:00:00Z" };
  await expect(client.emails.schedule(loose(scheduled))).rejects.toThrow(
    /once: belongs in the second argument/,
  );
  expect(sandbox.state.requests).toEqual([]);
});

test.each([[new Map([["once", "welcome:1"]])], [[["once", "welcome:1"]]]])(
  "a key for once in %o is refused: without it the email could go out twice",
  async (options) => {
    const { sandbox, client } = scene();
    const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };
    await expect(client.emails.send(email, loose(options))).rejects.toThrow(/options must be an object, got/);
    expect(sandbox.state.requests).toEqual([]);
  },
);

const noOptions = [
  [new Map([["timeoutMs", 1]]), "a Map"],
  [new Date(0), "a Date"],
  [Buffer.from("x"), "a Uint8Array"],
  [[["timeoutMs", 1]], "an Array"],
  ["welcome:1", '"welcome:1"'],
] as const;

test.each(noOptions)(
  "%o in place of options is refused by every method, and nothing is sent",
  async (value, what) => {
    const { sandbox, client } = scene();
    const [options, email] = [loose(value), { to: "ada@example.com", subject: "Hi", text: "Hi" }];
    const calls: Record<string, () => PromiseLike<unknown>> = {
      "contacts.create": () => client.contacts.create({ email: "ada@example.com" }, options),
      "contacts.list": () => client.contacts.list({}, options),
      "contacts.find": () => client.contacts.find("ada@example.com", options),
      "contacts.update": () => client.contacts.update("c-1", { name: "Ada" }, options),
      "contacts.upsert": () => client.contacts.upsert({ email: "ada@example.com" }, options),
      "contacts.import": () => client.contacts.import([], options),
      "companies.findByDomain": () => client.companies.findByDomain("example.com", options),
      "lists.addContacts": () => client.lists.addContacts("l-1", ["ada@example.com"], options),
      "events.record": () => client.events.record({ name: "x", contact: { id: "c-1" } }, options),
      "events.recordBatch": () => client.events.recordBatch([{ name: "x", contact: { id: "c-1" } }], options),
      "events.ingest": () => client.events.ingest([], options),
      "events.forecast": () => client.events.forecast(1, options),
      "emails.send": () => client.emails.send(email, options),
      "emails.schedule": () => client.emails.schedule({ ...email, sendAt: "2030-01-01T00:00:00Z" }, options),
      "emails.scheduled.cancel": () => client.emails.scheduled.cancel("e-1", options),
      "emails.scheduled.list": () => client.emails.scheduled.list({}, options),
      request: () => client.request({ method: "GET", path: "/api/v1/contacts" }, options),
    };
    const told: Record<string, unknown> = {};
    for (const [operation, call] of Object.entries(calls))
      told[operation] = await call().then(
        () => "taken",
        ({ message }: Error) => message,
      );
    const said = (operation: string) => `${operation}: the options must be an object, got ${what}`;
    expect(told).toEqual(Object.fromEntries(Object.keys(calls).map((id) => [id, said(id)])));
    for (const run of [
      () => client.contacts.list({}, options).toArray(),
      () => client.contacts.list({}, options).pages().next(),
      () => client.contacts.list().toArray(options),
      () => client.contacts.list().pages(options).next(),
    ])
      await expect(run()).rejects.toThrow(said("contacts.list"));
    expect(sandbox.state.requests).toEqual([]);
  },
);

test.each(noOptions)(
  "%o in place of the options of a recorder and of a close is refused",
  async (value, what) => {
    const { client } = scene();
    const message = `the options must be an object, got ${what}`;
    expect(() => client.events.recorder(loose(value))).toThrow(`events.recorder: ${message}`);
    await expect(client.close(loose(value))).rejects.toThrow(`close: ${message}`);
  },
);

test("null in place of options stands for none", async () => {
  const { client } = scene();
  await client.contacts.create({ email: "ada@example.com" }, loose(null));
  expect(await client.contacts.list({}, loose(null)).toArray()).toHaveLength(1);
  expect(await client.contacts.list(loose(null)).toArray()).toHaveLength(1);
  expect(await client.events.ingest([], loose(null))).toMatchObject({ read: 0 });
  await client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hi" }, loose(null));
});

test.each([[null], ["key"], [5], [[]], [new Map()], [new Date(0)], [Buffer.from("key")]])(
  "a client cannot be made of %o",
  (options) => {
    const refused = new ConfigurationError("options must be an object: new Client({ apiKey, baseUrl })");
    expect(() => new Client(loose(options))).toThrow(refused);
  },
);

test.each([
  ["localhost:4010"],
  ["127.0.0.1:4010/v2"],
  ["[::1]:4010"],
  ["crm.example.com"],
  ["mailto:ada@example.com"],
  ["ada:secret@example.com"],
  ["//example.com"],
  ["ftp://example.com"],
])("a base URL %s without its scheme is refused, and told what to give", (baseUrl) => {
  const message = "baseUrl must be an absolute https:// URL, or http:// to this machine";
  expect(() => new Client({ apiKey: "key", baseUrl })).toThrow(new ConfigurationError(message));
});

test.each([
  [{ email: "nobody" }, {}, "email: "],
  [{ email: "ada@example.com", listIds: "l1" }, {}, "listIds: "],
  [
    { email: "ada@example.com" },
    { totalTimeoutMs: 0 },
    "totalTimeoutMs must be a number of at least 1, got 0",
  ],
])("what is wrong with an upsert is told in its name", async (input, options, what) => {
  const { sandbox, client } = scene();
  await expect(client.contacts.upsert(loose(input), options)).rejects.toMatchObject({
    code: "input_invalid",
    operation: "contacts.upsert",
    message: expect.stringContaining(`contacts.upsert: ${what}`),
  });
  expect(sandbox.state.requests).toEqual([]);
});

test("faults in the options of a find name contacts.find", async () => {
  const { client } = scene();
  await expect(client.contacts.find("ada@example.com", { timeoutMs: 0 })).rejects.toMatchObject({
    operation: "contacts.find",
    message: "contacts.find: timeoutMs must be a number of at least 1, got 0",
  });
});

test.each([
  ["password", true, { password: 1 }],
  ["PASSWORD deeper down", true, { a: [{ PASSWORD: 1 }] }],
  ["cardNumber", true, { cardNumber: 1 }],
  ["a ssn deeper down", true, { a: { b: [[{ ssn: 1 }]] } }],
  ["no name of the document", false, { pwd: 1, cvc: 2, passwords: 3, card: "card_number" }],
])("properties with %s: client and sandbox say the same", async (_, isRefused, properties) => {
  const { sandbox, client } = scene();
  const event = { id: "1", name: "x", contact: { email: "ada@example.com" }, properties };
  const said = async (sent: PromiseLike<unknown>) => {
    try {
      await sent;
      return "taken";
    } catch (error) {
      return error instanceof ValidationError || error instanceof BadRequestError ? "refused" : error;
    }
  };
  const path = "/api/v1/events";
  const free = await said(client.request({ method: "POST", path, body: event, replay: "never" }));
  const checked = await said(client.events.record(loose(event)));
  const verdict = isRefused ? "refused" : "taken";
  expect([free, checked, sandbox.state.requests.length]).toEqual([verdict, verdict, isRefused ? 1 : 2]);
});
