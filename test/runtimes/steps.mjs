// The steps of the job that need no file, and how a job is run.
import { tracingChannel } from "node:diagnostics_channel";
import { Client } from "touchpoint-sdk";

const traced = [];
tracingChannel("touchpoint:call").subscribe({ start: ({ operation }) => traced.push(operation) });

export const equal = (found, expected) => {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${JSON.stringify(found)} in place of ${JSON.stringify(expected)}`);
};

const failureOf = (promise) =>
  promise.then(
    () => "an answer",
    (error) => error,
  );

/** The steps against three services; `ledger` and `checkpoint` are where the runtime can keep them. */
export const stepsOf = ({ plain, stalling, resetting, ledger, checkpoint }) => {
  const clientOf = (baseUrl, options = {}) => new Client({ apiKey: "tp_key", baseUrl, ledger, ...options });
  const client = clientOf(plain);
  const person = { email: "ada@example.com" };
  return {
    client,
    steps: {
      "upsert a contact": async () => {
        const { created, contact } = await client.contacts.upsert({ ...person, name: "Ada" });
        equal([created, contact.name], [true, "Ada"]);
      },
      "list 451 contacts": async () => {
        const ids = new Set();
        for await (const { id } of client.contacts.list()) ids.add(id);
        equal(ids.size, 451);
      },
      "ingest with a checkpoint": async () => {
        const events = Array.from({ length: 60 }, (_, index) => ({
          id: `e${index}`,
          name: "ran",
          contact: person,
        }));
        const first = await client.events.ingest(events, { checkpoint });
        const second = await client.events.ingest(events, { checkpoint });
        equal([first.accepted, second.skipped], [60, 60]);
      },
      "send once with a ledger": async () => {
        const email = { to: person.email, subject: "Hello", text: "Hello" };
        const first = await client.emails.send(email, { once: "hello" });
        const second = await client.emails.send(email, { once: "hello" });
        equal(first.id, second.id);
      },
      "end a response that stalls": async () => {
        const slow = clientOf(stalling, { timeoutMs: 300, maxRetries: 0 });
        const { name, outcome } = await failureOf(slow.contacts.list());
        equal([name, outcome], ["TimeoutError", "not-applied"]);
        await slow.close();
      },
      "abort a call": async () => {
        const slow = clientOf(stalling);
        const controller = new AbortController();
        const reason = new Error("enough");
        const failure = failureOf(slow.contacts.list({}, { signal: controller.signal }));
        setTimeout(() => controller.abort(reason), 50);
        equal((await failure) === reason, true);
        await slow.close();
      },
      "report a lost response as unknown": async () => {
        const broken = clientOf(resetting);
        const { name, outcome, attempts } = await failureOf(
          broken.contacts.create({ email: "eve@example.com" }),
        );
        equal([name, outcome, attempts], ["ConnectionError", "unknown", 1]);
        await broken.close();
      },
      "trace calls": async () => equal(traced.includes("contacts.list"), true),
      // What is left open would keep the process from ending.
      "close, and let the process end": () => client.close(),
    },
  };
};

/** Runs the steps in turn: a line of JSON each, with what went wrong if anything did. */
export async function* run(steps) {
  for (const [name, step] of Object.entries(steps)) {
    const failure = await step().then(
      () => undefined,
      (error) => String(error?.stack ?? error),
    );
    yield JSON.stringify({ name, failure });
  }
}
