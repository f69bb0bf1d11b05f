import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Client, fileLedger, type Ledger, memoryLedger } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { served } from "../unit/resources/served.ts";

const email = { to: "ada@example.com", subject: "Welcome", text: "Hello" };
const once = { once: "welcome:ada" };

const inFile = (): Ledger => {
  const directory = mkdtempSync(join(tmpdir(), "touchpoint-cancel-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return fileLedger(join(directory, "once.ledger"));
};

const service = (ledger: Ledger) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const { fetch } = sandbox;
  const options = {
    apiKey: "key",
    baseUrl: "http://localhost",
    fetch,
    limits: false,
    maxRetries: 1,
    ledger,
  } as const;
  const { emails } = new Client(options, { random: () => 0 });
  const sendAt = new Date(Date.now() + 3_600_000);
  return { sandbox, emails, schedule: () => emails.schedule({ ...email, sendAt }, once) };
};

describe.each([
  ["memory", () => memoryLedger()],
  ["a file", inFile],
] as const)("with a ledger in %s", (_where, open) => {
  test("a cancel that the service confirmed frees the key: the next call schedules another email", async () => {
    const { sandbox, emails, schedule } = service(open());
    const first = await schedule();
    await emails.scheduled.cancel(first.id);
    const second = await schedule();
    expect(second.id).not.toBe(first.id);
    const kept = [...sandbox.state.scheduled.values()].map(({ id, status }) => [id, status === "SCHEDULED"]);
    expect(kept).toEqual([
      [first.id, false],
      [second.id, true],
    ]);
  });

  test("an update keeps the key", async () => {
    const { sandbox, emails, schedule } = service(open());
    const first = await schedule();
    await emails.scheduled.update(first.id, { subject: "Hello" });
    expect(await schedule()).toEqual(first);
    expect(sandbox.state.scheduled.size).toBe(1);
  });

  test("after a cancel that finds no email, the key waits until it is settled", async () => {
    const ledger = open();
    const { sandbox, emails, schedule } = service(ledger);
    const first = await schedule();
    sandbox.fail({ operation: "emails.scheduled.cancel", with: { status: 404 } });
    await expect(emails.scheduled.cancel(first.id)).rejects.toMatchObject({ status: 404 });
    await expect(schedule()).rejects.toMatchObject({ code: "once_unknown", outcome: "unknown" });
    expect(await ledger.settle("welcome:ada", "sent")).toBe(true);
    expect(await schedule()).toEqual(first);
    expect(sandbox.state.scheduled.size).toBe(1);
  });

  test("after a cancel whose response was lost and whose repeat found nothing, the key waits too", async () => {
    const ledger = open();
    const { sandbox, emails, schedule } = service(ledger);
    const { id } = await schedule();
    sandbox.fail({ operation: "emails.scheduled.cancel", with: "reset-after-apply" });
    await emails.scheduled.cancel(id);
    await expect(schedule()).rejects.toMatchObject({ outcome: "unknown" });
    expect(await ledger.settle("welcome:ada", "not-sent")).toBe(true);
    expect((await schedule()).id).not.toBe(id);
  });

  test("after a cancel that stayed unclear the key waits, until a later one is confirmed", async () => {
    const ledger = open();
    const { sandbox, emails, schedule } = service(ledger);
    const { id } = await schedule();
    sandbox.fail({ operation: "emails.scheduled.cancel", times: 2, with: { status: 500 } });
    await expect(emails.scheduled.cancel(id)).rejects.toMatchObject({ outcome: "unknown" });
    expect(await ledger.get("welcome:ada")).toMatchObject({ state: "unknown", receipt: { id } });
    await emails.scheduled.cancel(id);
    expect(await ledger.get("welcome:ada")).toBeUndefined();
  });

  test("a cancel that was refused leaves the key as it is", async () => {
    const ledger = open();
    const { sandbox, emails, schedule } = service(ledger);
    const first = await schedule();
    sandbox.fail({ operation: "emails.scheduled.cancel", with: { status: 403 } });
    await expect(emails.scheduled.cancel(first.id)).rejects.toMatchObject({ outcome: "not-applied" });
    expect(await schedule()).toEqual(first);
  });
});

test("an email sent at once keeps its key when a scheduled email with the same id is cancelled", async () => {
  const ledger = memoryLedger();
  const { client, requests } = served([[200, { id: "m-1", status: "SENT", sendAt: "now" }], [204]], {
    ledger,
  });
  const receipt = await client.emails.send(email, once);
  expect(await ledger.settle("welcome:ada", "not-sent")).toBe(false);
  await client.emails.scheduled.cancel("m-1");
  expect(await client.emails.send(email, once)).toEqual(receipt);
  expect(requests).toHaveLength(2);
});

test("a key whose process died in the middle of a cancel can be settled by hand", async () => {
  const ledger = memoryLedger();
  const { schedule } = service(ledger);
  const first = await schedule();
  expect(await ledger.settle("welcome:ada", "not-sent")).toBe(true);
  expect((await schedule()).id).not.toBe(first.id);
});

test("a cancellation resolves when a custom ledger cannot settle scheduled emails, or fails to", async () => {
  const { claim, settle } = memoryLedger();
  const settleScheduled = () => Promise.reject(new Error("disk full"));
  for (const ledger of [
    { claim, settle },
    { claim, settle, settleScheduled },
  ]) {
    const { client, requests } = served([[204]], { ledger });
    await client.emails.scheduled.cancel("se-1");
    expect(requests).toHaveLength(1);
  }
});
