// Needs the program: pg_basebackup
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { migration, sqlLedger } from "../../src/sql/index.ts";
import { PostgresServer, poolOf } from "../support/postgres-server.ts";
import { drivers } from "./drivers.mjs";
import { overPostgres, queryOf, type Row, senders } from "./proof.ts";

let primary: PostgresServer;
let replica: PostgresServer;
let admin: ReturnType<typeof poolOf>;

beforeAll(async () => {
  primary = await PostgresServer.start("fsync=off");
  admin = poolOf(primary.url, 1);
  await admin.query(migration("postgres"));
  replica = await primary.replica();
}, 60_000);
afterAll(async () => {
  await admin.end();
  await replica.stop();
  await primary.stop();
});

const openOn = async (server: PostgresServer, { name, adapter }: Row) => {
  const opened = await drivers[name]?.open(server.url, "", "");
  onTestFinished(async () => void (await opened?.close()));
  return sqlLedger(queryOf(adapter, opened?.handles ?? {}), { dialect: "postgres" });
};

const refusal = {
  name: "ConfigurationError",
  outcome: "not-applied",
  message: expect.stringMatching(/^sqlLedger: the self-test of the store failed.*read-only transaction/s),
};

test.each(overPostgres)(
  "with $name, a ledger on a streaming replica is refused before an email leaves",
  async (row) => {
    const ledger = await openOn(replica, row);
    const { sandbox, sendWith } = senders({ ledger: () => ledger });
    await expect(sendWith(ledger, "new")).rejects.toMatchObject(refusal);
    expect(sandbox.state.emails).toEqual([]);
  },
);

test("a replica knows the keys of its primary, and takes claims once it is promoted", async () => {
  const [pg] = overPostgres;
  if (pg === undefined) throw new Error("no row of the guide's table is pg");
  const first = await openOn(primary, pg);
  const second = await openOn(replica, pg);
  const { sandbox, sendWith } = senders({ ledger: () => first });
  const sent = await sendWith(first, "old");
  await expect.poll(() => second.get("old")).toMatchObject({ state: "sent" });
  expect(await sendWith(second, "old")).toEqual(sent);
  await expect(sendWith(second, "new")).rejects.toMatchObject(refusal);
  await replica.promote();
  await sendWith(second, "new");
  expect(sandbox.state.emails.map(({ subject }) => subject)).toEqual(["old", "new"]);
});
