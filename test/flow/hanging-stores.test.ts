import { expect, test } from "vitest";
import { type CheckpointStore, Client, ConnectionError, type Ledger, memoryLedger } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const timeoutMs = 50;
const never = (): Promise<never> => new Promise(() => {});
const email = { to: "ada@example.com", subject: "Hi", text: "Hi" };

const scene = (ledger?: Ledger) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const options = {
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch: sandbox.fetch,
    limits: false,
  } as const;
  return { sandbox, client: new Client({ ...options, timeoutMs, ...(ledger && { ledger }) }) };
};

const rows = [{ email: "ada@example.com" }];
const event = { id: "e-1", name: "order.placed", contact: { email: "ada@example.com" } };

test.each(["load", "save"] as const)(
  "a checkpoint whose %s hangs ends a run within timeoutMs",
  async (which) => {
    const { client } = scene();
    const store: CheckpointStore = { load: async () => undefined, save: async () => {}, [which]: never };
    const runs = [
      () => client.contacts.import(rows, { checkpoint: store }),
      () => client.events.ingest([event], { checkpoint: store }),
    ];
    for (const run of runs) {
      const error: unknown = await run().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConnectionError);
      expect(Object(error).message).toContain("the checkpoint store did not respond within timeoutMs, 50 ms");
    }
  },
);

test("a ledger that hangs when the receipt is stored holds no caller", async () => {
  const base = memoryLedger();
  const { client, sandbox } = scene({ ...base, settle: never });
  const sent = await client.emails.send(email, { once: "hi:1" });
  expect(sent.id).toBe(sandbox.state.emails[0]?.id);
});

test("cancel and close end even if the ledger hangs or throws while it settles a scheduled email", async () => {
  const base = memoryLedger();
  const fail = (): never => {
    throw new Error("no such table");
  };
  for (const settleScheduled of [never, fail]) {
    const { client, sandbox } = scene({ ...base, settleScheduled });
    const sendAt = new Date(Date.now() + 3_600_000);
    const { id } = await client.emails.schedule({ ...email, sendAt });
    await client.emails.scheduled.cancel(id);
    await client.close();
    expect(sandbox.state.requests.map(({ status = 500 }) => status < 300)).toEqual([true, true]);
  }
});

test("a ledger that hangs in a claim or a read sends nothing, and names itself", async () => {
  const base = memoryLedger();
  for (const hanging of [
    { ...base, claim: never },
    { ...base, read: never },
  ]) {
    const { client, sandbox } = scene(hanging);
    const sending = client.emails.send(email, { once: "hi:1", maxRetries: 0 });
    await expect(sending).rejects.toThrow("the ledger did not respond within timeoutMs, 50 ms");
    await expect(sending).rejects.toMatchObject({ outcome: "not-applied" });
    expect(sandbox.state.emails).toEqual([]);
    await client.close();
  }
});
