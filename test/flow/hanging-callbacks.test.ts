import { describe, expect, test } from "vitest";
import { type ClaimLedger, Client } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** A promise that never settles, and the moment somebody waits for it. */
const hanging = () => {
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const hang = (): Promise<never> => {
    asked();
    return new Promise(() => undefined);
  };
  return { hang, isAsked };
};

const valid = { email: "a@example.com", name: "x", contact: { email: "a@example.com" } };
const invalid = { ...valid, email: "", name: "" };

const rows = function* () {
  for (let index = 0; index < 30; index += 1)
    yield index === 3 ? invalid : { ...valid, email: `p${index}@example.com` };
};

const load = async () => undefined;

/** What the caller gives a run, and hangs. */
const hangs: Readonly<Record<string, (hang: () => Promise<never>) => object>> = {
  "checkpoint.load": (hang) => ({ checkpoint: { load: hang, save: async () => undefined } }),
  "checkpoint.save": (hang) => ({ checkpoint: { load, save: hang } }),
  onRejected: (hang) => ({ onRejected: hang }),
};

/** How its owner ends it. */
const ends = {
  signal: { end: async (_client: Client, abort: AbortController) => abort.abort(new Error("enough")) },
  "close()": { end: (client: Client) => client.close() },
} as const;

const rowOf = ({ email, name }: { email: string; name: string }) => ({ email, name });
const eventOf = ({ name, contact }: typeof valid) => ({ name, contact });

const cases = (["ingest", "import"] as const).flatMap((run) =>
  Object.keys(hangs).flatMap((what) =>
    (["signal", "close()"] as const).map((by) => [by, run, what] as const),
  ),
);

describe("a run ends although a callback of its caller hangs", () => {
  test.each(cases)("%s ends %s while %s hangs", async (by, run, what) => {
    const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
    const setup = {
      apiKey: "key",
      baseUrl: "http://localhost",
      fetch: sandbox.fetch,
      limits: false,
    } as const;
    const client = new Client(setup);
    const { hang, isAsked } = hanging();
    const abort = new AbortController();
    const options = { ...hangs[what]?.(hang), signal: abort.signal };
    const ended =
      run === "import"
        ? client.contacts.import([...rows()].map(rowOf), options)
        : client.events.ingest([...rows()].map(eventOf), options);
    const error = ended.catch((reason: unknown) => reason);
    await isAsked;
    await ends[by].end(client, abort);
    expect(await error).toMatchObject({
      message: by === "signal" ? "enough" : expect.stringContaining("the client was closed"),
    });
  });
});

test("a source whose end hangs does not hold a run that has failed", async () => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const setup = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, limits: false } as const;
  const client = new Client(setup);
  const { hang, isAsked } = hanging();
  const source = async function* () {
    try {
      for (;;) yield eventOf(valid);
    } finally {
      await hang();
    }
  };
  const save = async () => Promise.reject(new Error("disk full"));
  const ended = client.events
    .ingest(source(), { checkpoint: { load, save } })
    .catch((reason: unknown) => reason);
  await isAsked;
  await client.close();
  expect(await ended).toMatchObject({ message: "disk full" });
});

/** Closes a client, on a clock of its own, while what it was given hangs; without `graceMs`, in its own time. */
const closedWhile = async <T>(
  options: (hang: () => Promise<never>) => object,
  work: (client: Client) => Promise<T>,
  graceMs?: number,
) => {
  const clock = new FakeClock();
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, clock });
  const { hang, isAsked } = hanging();
  const given = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch, ...options(hang) };
  const client = new Client(given, { clock });
  const ended = work(client).catch((error: unknown) => error);
  await isAsked;
  await clock.until(client.close(graceMs === undefined ? {} : { graceMs }));
  return { ended: await ended, emails: sandbox.state.emails.length };
};

const claimed = async () => ({ state: "claimed", claim: "1" }) as const;
const ledgerOf = (over: Partial<ClaimLedger>) => ({
  ledger: { claim: claimed, settle: async () => true, ...over },
});
const send = ({ emails }: Client) =>
  emails.send({ to: "ada@example.com", subject: "Hi", text: "x" }, { once: "k" });

test("a call whose ledger hangs ends when the client closes, and sends nothing", async () => {
  const closed = await closedWhile((hang) => ledgerOf({ claim: hang }), send);
  const error = { code: "connection_failed", outcome: "not-applied", attempts: 0 };
  expect(closed).toMatchObject({ ended: error, emails: 0 });
});

test("a ledger that hangs after an email was sent: its receipt comes when the client is closed", async () => {
  const closed = await closedWhile((hang) => ledgerOf({ settle: hang }), send);
  expect(closed).toMatchObject({ ended: { to: "ada@example.com" }, emails: 1 });
});

test("a recorder whose schema hangs closes on time and reports the dropped event", async () => {
  const dropped: unknown[] = [];
  const schema = (hang: () => Promise<never>) => ({
    events: { seen: { "~standard": { version: 1, vendor: "test", validate: hang } } },
  });
  const onDrop = ({ event }: { readonly event: unknown }): void => void dropped.push(event);
  const event = { name: "seen", contact: { email: "ada@example.com" } };
  const record = ({ events }: Client) => events.recorder({ onDrop }).record(event);
  const closed = await closedWhile(schema, record, 100);
  expect(closed.ended).toMatchObject({ code: "connection_failed", outcome: "not-applied" });
  expect(dropped).toEqual([event]);
});
