import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setupServer } from "msw/node";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { signupService } from "../../examples/signup-service/app.ts";
import { welcomeJobs } from "../../examples/signup-service/jobs.ts";
import { Client, fileLedger } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "signups-"));
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const start = async (limits: object = {}) => {
  const sandbox = createSandbox({ apiKeys: ["test-key"], limits });
  const client = new Client({
    ...{ apiKey: "test-key", baseUrl: "http://localhost", fetch: sandbox.fetch },
    ledger: fileLedger(join(folder, "sent.ledger")),
    limits,
  });
  const jobs = welcomeJobs(join(folder, "welcomes.ndjson"), client);
  const { id: listId } = await client.lists.create({ name: "Signed up" });
  const app = signupService({ client, jobs, listId });
  const signUp = async (email: string) => app.inject({ method: "POST", url: "/signups", payload: { email } });
  return { sandbox, client, jobs, app, signUp, listId };
};

test("a sign-up makes a contact in the list, an event and one welcome email, however often it is sent", async () => {
  const { sandbox, client, signUp, listId } = await start();
  const answers = [await signUp("ada@example.com"), await signUp("ada@example.com")];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
  expect(answers.map((answer) => answer.json().created)).toEqual([true, false]);
  const [contact] = sandbox.state.contacts;
  expect(contact?.listIds).toEqual([listId]);
  expect(
    [sandbox.state.contacts, sandbox.state.events, sandbox.state.emails].map(({ length }) => length),
  ).toEqual([1, 1, 1]);
  await client.close();
});

test("if the email limit is used up, the response is 202, and the job sends the email later", async () => {
  const { sandbox, client, jobs, signUp } = await start({ emails: { max: 1, windowMs: 60_000 } });
  expect((await signUp("ada@example.com")).statusCode).toBe(201);
  const second = await signUp("grace@example.com");
  expect([second.statusCode, second.json().welcome, jobs.due]).toEqual([202, "due", 1]);
  const sending = jobs.run();
  // The job reads its file and claims its key first: on a busy machine that takes longer than a turn.
  await vi.waitUntil(() => client.budgets().emails.waiting.interactive === 1);
  await vi.advanceTimersByTimeAsync(70_000);
  sandbox.advance(70_000);
  await sending;
  expect([sandbox.state.emails.map(({ to }) => to), jobs.due]).toEqual([
    ["ada@example.com", "grace@example.com"],
    0,
  ]);
  await client.close();
});

test("after stop, the jobs start no further email, although their client could", async () => {
  const { sandbox, client, jobs, signUp } = await start({ emails: { max: 1, windowMs: 60_000 } });
  for (const name of ["ada", "grace", "alan"]) await signUp(`${name}@example.com`);
  const sending = jobs.run();
  // Reads the file, and waits for the limit with the first of two.
  await expect.poll(() => client.budgets().emails?.waiting.interactive).toBe(1);
  jobs.stop();
  await client.close();
  await sending;
  expect([sandbox.state.emails.length, jobs.due]).toEqual([1, 2]);
});

test("one deadline covers the complete handler: a used-up limit is a 429 with Retry-After", async () => {
  const { client, signUp } = await start({ requests: { max: 5, windowMs: 10_000 } });
  expect((await signUp("ada@example.com")).statusCode).toBe(201);
  const second = await signUp("grace@example.com");
  expect([second.statusCode, second.json().limit]).toEqual([429, "requests"]);
  expect(Number(second.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  await client.close();
});

test("a job that an earlier process left is sent once, and a sent one is not sent again", async () => {
  const first = await start();
  await first.signUp("ada@example.com");
  await first.client.close();
  const second = await start();
  await second.jobs.run();
  expect(second.sandbox.state.emails).toEqual([]);
  expect(readFileSync(join(folder, "welcomes.ndjson"), "utf8")).toContain("ada@example.com");
  await second.client.close();
});

test("health reports each limit, and how many emails are due", async () => {
  const { client, app } = await start();
  const health = await app.inject({ method: "GET", url: "/health" });
  expect(health.json()).toMatchObject({ limits: { emails: { used: 0, remaining: 20 } }, emailsDue: 0 });
  await client.close();
});

test("with MSW the client's own transport is used, and nothing leaves", async () => {
  vi.useRealTimers();
  const baseUrl = "https://crm.example";
  const sandbox = createSandbox({ apiKeys: ["test-key"], baseUrl });
  const server = setupServer(...sandbox.handlers);
  server.listen({ onUnhandledRequest: "error" });
  const client = new Client({ apiKey: "test-key", baseUrl, ledger: fileLedger(join(folder, "sent.ledger")) });
  const jobs = welcomeJobs(join(folder, "welcomes.ndjson"), client);
  const { id: listId } = await client.lists.create({ name: "Signed up" });
  const app = signupService({ client, jobs, listId });
  const payload = { email: "ada@example.com" };
  const answer = await app.inject({ method: "POST", url: "/signups", payload });
  expect([answer.statusCode, answer.json().welcome]).toEqual([201, "sent"]);
  expect(await sandbox.waitFor("email", { to: "ada@example.com" })).toMatchObject({ subject: "Welcome" });
  await client.close();
  server.close();
});

test("too many simultaneous sign-ups get a 429 and use no requests", async () => {
  const { sandbox, client, signUp } = await start();
  const before = sandbox.state.counts.requests;
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => signUp(`p${n}@example.com`)));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([
    201, 201, 201, 201, 201, 429, 429, 429,
  ]);
  const refused = answers.find(({ statusCode }) => statusCode === 429);
  expect([refused?.json(), refused?.headers["retry-after"]]).toEqual([{ limit: "signups" }, "1"]);
  expect([sandbox.state.emails.length, (sandbox.state.counts.requests - before) % 5]).toEqual([5, 0]);
  await client.close();
});

test("if an email takes longer than the handler may, the response is 202, and the email is still sent", async () => {
  const { sandbox, client, jobs, signUp } = await start();
  sandbox.fail({ operation: "emails.send", with: { delayMs: 3_000 } });
  const answer = signUp("ada@example.com");
  await sandbox.waitFor("email", { to: "ada@example.com" });
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await answer).json()).toMatchObject({ welcome: "due" });
  sandbox.advance(3_000);
  await expect.poll(() => jobs.due).toBe(0);
  expect((await signUp("ada@example.com")).json()).toMatchObject({ welcome: "sent" });
  expect(sandbox.state.emails).toHaveLength(1);
  await client.close();
});
