import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Client, type EmailInput, fileLedger, type Ledger } from "../../src/index.ts";
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
    const client = open(fileLedger(path, { compactAfter: 10 }));
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

test("an email whose answer was lost is not sent again until it is settled by hand", async () => {
  const { sandbox, open } = service();
  const path = ledgerPath();
  sandbox.fail({ operation: "emails.send", with: "reset-after-apply" });
  const send = () => open(fileLedger(path)).emails.send(email, { once: "welcome:ada" });
  await expect(send()).rejects.toMatchObject({ outcome: "unknown" });
  await expect(send()).rejects.toMatchObject({ name: "ConflictError", outcome: "unknown" });
  expect(await fileLedger(path).settle("welcome:ada", "sent")).toBe(true);
  expect(await send()).toMatchObject({ to: "ada@example.com" });
  expect(sandbox.state.emails).toHaveLength(1);
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
