import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Client, type EmailInput, fileLedger, type Ledger, memoryLedger } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

const email: EmailInput = { to: "ada@example.com", subject: "Welcome", text: "Hello" };

const service = () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const { fetch } = sandbox;
  const open = (ledger: Ledger) =>
    new Client({ apiKey: "key", baseUrl: "http://localhost", fetch, limits: false, ledger });
  return { sandbox, open };
};

const ledgerPath = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "touchpoint-once-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "once.ledger");
};

test("a program that starts again over the same file sends every email once", async () => {
  const { sandbox, open } = service();
  const path = ledgerPath();
  const people = Array.from({ length: 20 }, (_, at) => `p${at}@example.com`);
  const run = async (): Promise<(string | undefined)[]> => {
    const client = open(fileLedger(path));
    const ids: (string | undefined)[] = [];
    for (const to of people)
      ids.push((await client.emails.send({ ...email, to }, { once: `welcome:${to}` })).id);
    return ids;
  };
  const first = await run();
  expect(await run()).toEqual(first);
  expect(sandbox.state.emails).toHaveLength(20);
});

test("programs that run side by side over the same file send every email once", async () => {
  const { sandbox, open } = service();
  const path = ledgerPath();
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () =>
      open(fileLedger(path))
        .emails.send(email, { once: "welcome:ada" })
        .then(
          () => "receipt",
          (error) => error.outcome,
        ),
    ),
  );
  expect(sandbox.state.emails).toHaveLength(1);
  expect(outcomes.every((outcome) => outcome === "receipt" || outcome === "unknown")).toBe(true);
  expect(outcomes).toContain("receipt");
});

test("an email whose response was lost is not sent again until it is settled by hand", async () => {
  const { sandbox, open } = service();
  const path = ledgerPath();
  sandbox.fail({ operation: "emails.send", with: "reset-after-apply" });
  const send = () => open(fileLedger(path)).emails.send(email, { once: "welcome:ada" });
  const hint =
    'find out whether the email was sent, then call ledger.settle("welcome:ada", "sent") or ledger.settle("welcome:ada", "not-sent"). Until then, calls with this key and ledger send nothing';
  await expect(send()).rejects.toMatchObject({ code: "connection_failed", outcome: "unknown", hint });
  await expect(send()).rejects.toMatchObject({ code: "once_unknown", outcome: "unknown" });
  expect(await fileLedger(path).settle("welcome:ada", "sent")).toBe(true);
  expect(await send()).toMatchObject({ to: "ada@example.com" });
  expect(sandbox.state.emails).toHaveLength(1);
});

test("an email that its deadline cut off names its key, and one that was refused does not", async () => {
  const { sandbox, open } = service();
  const client = open(memoryLedger());
  sandbox.fail({ operation: "emails.send", with: "stall" });
  await expect(client.emails.send(email, { once: "a", totalTimeoutMs: 20 })).rejects.toMatchObject({
    ...{ code: "timeout", outcome: "unknown" },
    hint: expect.stringContaining('ledger.settle("a", "sent")'),
  });
  sandbox.fail({ operation: "emails.send", with: { status: 400 } });
  await expect(client.emails.send(email, { once: "b" })).rejects.toSatisfy(
    ({ hint }: { hint?: string }) => hint === undefined,
  );
});

test("a scheduled email is kept once", async () => {
  const { sandbox, open } = service();
  const path = ledgerPath();
  const sendAt = new Date(Date.now() + 3_600_000);
  const schedule = () =>
    open(fileLedger(path)).emails.schedule({ ...email, sendAt }, { once: "welcome:ada" });
  const kept = await schedule();
  expect(await schedule()).toEqual(kept);
  expect(sandbox.state.scheduled.size).toBe(1);
});

const people = ["ada@example.com", "bob@example.com", "cy@example.com"];

test("an email under a key is the one that was given, whatever is made of the object afterwards", async () => {
  const { sandbox, open } = service();
  const { emails } = open(fileLedger(ledgerPath()));
  const reused = { ...email };
  const sending = people.map((to) => {
    reused.to = to;
    return emails.send(reused, { once: `welcome:${to}` });
  });
  expect((await Promise.all(sending)).map(({ to }) => to)).toEqual(people);
  expect(sandbox.state.emails.map(({ to }) => to).sort()).toEqual(people);
  for (const to of people) await emails.send({ ...email, to }, { once: `welcome:${to}` });
  await expect(emails.send(reused, { once: `welcome:${people[0]}` })).rejects.toThrow("a different email");
  expect(sandbox.state.emails).toHaveLength(3);
});

test("a scheduled email under a key is the one that was given, its moment too", async () => {
  const { sandbox, open } = service();
  const { emails } = open(fileLedger(ledgerPath()));
  const sendAt = new Date(Date.now() + 3_600_000);
  const asked = sendAt.toISOString();
  const reused = { ...email, sendAt };
  const keeping = people.map((to) => {
    reused.to = to;
    return emails.schedule(reused, { once: `welcome:${to}` });
  });
  sendAt.setFullYear(2001);
  await Promise.all(keeping);
  const kept = [...sandbox.state.scheduled.values()];
  expect(kept.map(({ draft }) => draft.to).sort()).toEqual(people);
  expect(kept.map((one) => one.sendAt)).toEqual([asked, asked, asked]);
});
