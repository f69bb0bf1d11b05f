import { expect, test } from "vitest";
import { Client, memoryLedger } from "../../src/index.ts";

const email = { to: "ada@example.com", subject: "Welcome", text: "Hello" };
const reason = new Error("the visitor left");
const never = <T>(): Promise<T> => new Promise(() => undefined);

/** A client whose service never answers, and what tells that a request has left. */
const silent = () => {
  let tell = (): void => undefined;
  const hasLeft = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const fetch = (): Promise<Response> => {
    tell();
    return never();
  };
  const ledger = memoryLedger();
  return { client: new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, ledger }), hasLeft };
};

test.each([
  ["an email", {}],
  ["an email under a key", { once: "welcome:42" }],
])(
  "%s that is aborted on the wire throws the signal's reason, and its promise says unknown",
  async (_, how) => {
    const { client, hasLeft } = silent();
    const visitor = new AbortController();
    const call = client.emails.send(email, { ...how, signal: visitor.signal });
    expect(call.outcome).toBeUndefined();
    await hasLeft;
    visitor.abort(reason);
    await expect(call).rejects.toBe(reason);
    expect(call.outcome).toBe("unknown");
  },
);

test.each([
  ["an email", {}],
  ["an email under a key", { once: "welcome:42" }],
])("%s that is aborted before it left was not applied", async (_, how) => {
  const { client } = silent();
  const call = client.emails.send(email, { ...how, signal: AbortSignal.abort(reason) });
  await expect(call).rejects.toBe(reason);
  expect(call.outcome).toBe("not-applied");
});

test("a call of several requests says what became of all of them", async () => {
  const visitor = new AbortController();
  const fetch = async (_url: string, { method }: { method: string }): Promise<Response> => {
    if (method === "POST") return Response.json({ error: "exists" }, { status: 409 });
    visitor.abort(reason);
    return never();
  };
  const client = new Client({ apiKey: "key", baseUrl: "http://localhost", fetch });
  const call = client.contacts.upsert({ email: "ada@example.com", name: "Ada" }, { signal: visitor.signal });
  await expect(call).rejects.toBe(reason);
  expect(call.outcome).toBe("not-applied");
});

test("the promise of an invalid call has the outcome not-applied, and that of a success has none", async () => {
  const receipt = { id: "m-1", to: "ada@example.com", subject: "Welcome" };
  const client = new Client({
    ...{ apiKey: "key", baseUrl: "http://localhost", fetch: async () => Response.json(receipt) },
  });
  const invalid = client.emails.send({ ...email, to: "nobody" });
  await expect(invalid).rejects.toMatchObject({ code: "input_invalid" });
  expect(invalid.outcome).toBe("not-applied");
  const sent = client.emails.send(email);
  await sent;
  expect(sent.outcome).toBeUndefined();
});
