// One job, run by every runtime from the packed package. Each step prints its name, and what went wrong if anything did.
import { tracingChannel } from "node:diagnostics_channel";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { Client, fileLedger } from "touchpoint-sdk";
import { writeCsv } from "touchpoint-sdk/files";

const { PLAIN_URL, STALLING_URL, RESETTING_URL, FOLDER = "." } = process.env;
const traced = [];
tracingChannel("touchpoint:call").subscribe({ start: ({ operation }) => traced.push(operation) });

const clientOf = (baseUrl, options = {}) =>
  new Client({ apiKey: "tp_key", baseUrl, ledger: fileLedger(join(FOLDER, "ledger")), ...options });
const equal = (found, expected) => {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${JSON.stringify(found)} in place of ${JSON.stringify(expected)}`);
};
const failureOf = (promise) =>
  promise.then(
    () => "an answer",
    (error) => error,
  );

const client = clientOf(PLAIN_URL);
const person = { email: "ada@example.com" };
const steps = {
  "upsert a contact": async () => {
    const { created, contact } = await client.contacts.upsert({ ...person, name: "Ada" });
    equal([created, contact.name], [true, "Ada"]);
  },
  "list 451 contacts": async () => {
    const ids = new Set();
    for await (const { id } of client.contacts.list()) ids.add(id);
    equal(ids.size, 451);
  },
  "export them to CSV": async () => {
    const file = join(FOLDER, "contacts.csv");
    const { records } = await writeCsv(file, client.contacts.list(), { columns: ["id", "email"] });
    equal([records, (await readFile(file, "utf8")).trimEnd().split("\n").length], [451, 452]);
  },
  "ingest with a checkpoint": async () => {
    const events = Array.from({ length: 60 }, (_, index) => ({
      id: `e${index}`,
      name: "ran",
      contact: person,
    }));
    const checkpoint = join(FOLDER, "checkpoint");
    const first = await client.events.ingest(events, { checkpoint });
    const second = await client.events.ingest(events, { checkpoint });
    equal([first.accepted, second.skipped], [60, 60]);
  },
  "send once with a file ledger": async () => {
    const email = { to: person.email, subject: "Hello", text: "Hello" };
    const first = await client.emails.send(email, { once: "hello" });
    const second = await client.emails.send(email, { once: "hello" });
    equal(first.id, second.id);
  },
  "end a body that stalls": async () => {
    const stalling = clientOf(STALLING_URL, { timeoutMs: 300, maxRetries: 0 });
    const { name, outcome } = await failureOf(stalling.contacts.list());
    equal([name, outcome], ["TimeoutError", "not-applied"]);
    await stalling.close();
  },
  "abort a call": async () => {
    const stalling = clientOf(STALLING_URL);
    const controller = new AbortController();
    const reason = new Error("enough");
    const failure = failureOf(stalling.contacts.list({}, { signal: controller.signal }));
    setTimeout(() => controller.abort(reason), 50);
    equal((await failure) === reason, true);
    await stalling.close();
  },
  "tell a reset after the effect": async () => {
    const resetting = clientOf(RESETTING_URL);
    const { name, outcome, attempts } = await failureOf(
      resetting.contacts.create({ email: "eve@example.com" }),
    );
    equal([name, outcome, attempts], ["ConnectionError", "unknown", 1]);
    await resetting.close();
  },
  "trace calls": async () => equal(traced.includes("contacts.list"), true),
  // What is left open would keep the process from ending.
  "close and end": () => client.close(),
};

for (const [name, step] of Object.entries(steps)) {
  const failure = await step().then(
    () => undefined,
    (error) => String(error?.stack ?? error),
  );
  console.log(JSON.stringify({ name, failure }));
}
