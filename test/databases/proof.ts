import { readFileSync } from "node:fs";
import { type CheckpointStore, Client, type Ledger } from "../../src/index.ts";
import { type RedisCommands, redisCheckpoint, redisLedger, redisLimits } from "../../src/redis/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { type SqlDialect, type SqlQuery, sqlCheckpoint, sqlLedger, sqlLimits } from "../../src/sql/index.ts";
import { drivers } from "./drivers.mjs";

const guide = readFileSync(new URL("../../docs/guide/sql.md", import.meta.url), "utf8");

/** A row of the guide's table: `| name version | \`adapter\` | what to set |`. */
export interface Row {
  readonly name: string;
  readonly version: string;
  readonly adapter: string;
}

/** The rows of the guide's table of drivers. */
export const rows: readonly Row[] = [...guide.matchAll(/^\| (\S+) +(\d\S*) +\| (`+) ?(.+?) ?\3 +\|/gm)].map(
  ([, name = "", version = "", , adapter = ""]) => ({ name, version, adapter }),
);

/** The drivers of a PostgreSQL in another process, which run in Node. */
export const overPostgres = rows.filter(
  ({ name }) => drivers[name]?.dialect === "postgres" && !["PGlite", "Bun.sql"].includes(name),
);

/** The query function that a line of code makes of the handles of a driver. */
export const queryOf = (adapter: string, handles: Readonly<Record<string, unknown>>): SqlQuery =>
  new Function(...Object.keys(handles), `return ${adapter};`)(...Object.values(handles));

const email = { to: "ada@example.com", subject: "Welcome", text: "Hello" };

/** A ledger, which each sender opens for itself, and the checkpoint of a run. */
interface Stores {
  ledger(): Ledger;
  readonly checkpoint: CheckpointStore;
  /** For three requests of all processes. */
  limits(): ReturnType<typeof redisLimits>;
}

/** The stores of a database. */
export const sqlStores = (query: SqlQuery, dialect: SqlDialect): Stores => ({
  ledger: () => sqlLedger(query, { dialect }),
  checkpoint: sqlCheckpoint(query, { dialect, id: "events" }),
  limits: () => sqlLimits(query, { dialect, id: "crm", requestsPerDay: 3 }),
});

/** The stores of a Redis. */
export const redisStores = (redis: RedisCommands): Stores => ({
  ledger: () => redisLedger(redis),
  checkpoint: redisCheckpoint(redis, { id: "events" }),
  limits: () => redisLimits(redis, { id: "crm", requestsPerDay: 3 }),
});

/** What a sender's program sees, and what the service got. Each client has a ledger of its own, as another process has. */
export const senders = ({ ledger }: Pick<Stores, "ledger">) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const access = { apiKey: "key", baseUrl: "http://localhost", fetch: sandbox.fetch };
  const open = () => new Client({ ...access, limits: false, ledger: ledger() });
  const send = async (once: string) => {
    await using client = open();
    return await client.emails.send(email, { once });
  };
  const sendWith = async (own: Ledger, once: string) => {
    await using client = new Client({ ...access, limits: false, ledger: own, maxRetries: 0 });
    return await client.emails.send({ ...email, subject: once }, { once });
  };
  return { sandbox, access, open, send, sendWith, ledger: ledger() };
};

/** Sends under keys, lists, settles, cancels and saves a checkpoint. Returns what `proven` is if all is well. */
export const prove = async (stores: Stores): Promise<unknown> => {
  const { sandbox, access, open, send, ledger } = senders(stores);
  const twice = [await send("a"), await send("a")];
  const racers = await Promise.allSettled(Array.from({ length: 5 }, () => send("b")));
  const sent = racers.flatMap((racer) => (racer.status === "fulfilled" ? [racer.value.id] : []));
  const refusals = racers.flatMap((racer) => (racer.status === "rejected" ? [racer.reason.code] : []));
  await using client = open();
  const sendAt = new Date("2099-01-31T09:00:00Z");
  const { id } = await client.emails.schedule({ ...email, sendAt }, { once: "c" });
  await client.emails.scheduled.cancel(id);
  await ledger.claim("d", "print", { operation: "emails.send", limitMs: 0 });
  const states = async () => {
    const listed: string[] = [];
    for await (const { key, state } of ledger.list()) listed.push(`${key} ${state}`);
    return listed.sort();
  };
  const before = await states();
  const settled = await ledger.settle("d", "not-sent");
  await stores.checkpoint.save({ version: 1, done: 3, last: "it's $1 or ?" });
  const limited = [1, 2].map(() => new Client({ ...access, limits: stores.limits() }));
  for (const one of limited) await one.events.record({ name: "x", contact: { email: "ada@example.com" } });
  await limited[0]?.contacts.find("nobody@example.com");
  const [refused] = await Promise.allSettled([limited[1]?.contacts.find("nobody@example.com")]);
  await Promise.all(limited.map((one) => one.close()));
  return {
    emails: sandbox.state.emails.length,
    receipts: new Set(twice.map((receipt) => receipt.id)).size,
    racing: new Set(sent).size,
    // A racer that comes while the email is being sent is told so.
    refusals: refusals.filter((code) => code !== "once_pending"),
    states: [before, await states()],
    settled,
    limited: refused.status === "rejected" ? refused.reason.limit : "not refused",
    checkpoint: await stores.checkpoint.load(),
  };
};

/** What `prove` returns for a driver that works. */
export const proven = {
  emails: 2,
  receipts: 1,
  racing: 1,
  refusals: [],
  states: [
    ["a sent", "b sent", "d unknown"],
    ["a sent", "b sent"],
  ],
  settled: true,
  limited: "requestsPerDay",
  checkpoint: { version: 1, done: 3, last: "it's $1 or ?" },
};
