import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { Client } from "../../../src/index.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { migration, type SqlQuery, sqlLedger } from "../../../src/sql/index.ts";
import { keepsTheRules } from "../../support/ledger-rules.ts";
import { PostgresServer, poolOf, queryOf } from "../../support/postgres-server.ts";

const dialect = "postgres";
let server: PostgresServer;
let pool: ReturnType<typeof poolOf>;

beforeAll(async () => {
  // Every statement of every connection may fail to be serialized.
  server = await PostgresServer.start("default_transaction_isolation=serializable");
  const first = poolOf(server.url, 1);
  await first.query(migration(dialect));
  await first.end();
}, 60_000);
afterAll(() => server.stop());

beforeEach(async () => {
  // One connection: whoever kept it while it waited for something else would wait for ever.
  pool = poolOf(server.url, 1);
  await pool.query("TRUNCATE touchpoint_ledger");
});
afterEach(() => pool.end());

const query: SqlQuery = (sql, params) => queryOf(pool)(sql, params);

describe("a ledger in PostgreSQL, over a pool of one connection", () => {
  keepsTheRules(() => sqlLedger(query, { dialect }));
});

test("only one of forty simultaneous claims of a key wins, over eight connections", async () => {
  const wide = poolOf(server.url, 8);
  onTestFinished(() => wide.end());
  const ledger = sqlLedger(queryOf(wide), { dialect });
  const claims = await Promise.all(Array.from({ length: 40 }, () => ledger.claim("k", "f")));
  expect(claims.filter(({ state }) => state === "claimed")).toHaveLength(1);
});

const email = { to: "ada@example.com", subject: "Welcome", text: "Hello" };

/** A client whose service calls `meanwhile` before it sends the email. */
const sender = (meanwhile: () => Promise<void>) => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false });
  const ledger = sqlLedger(query, { dialect });
  const client = new Client({
    ...{ apiKey: "key", baseUrl: "http://localhost", limits: false, ledger },
    fetch: async (url, init) => {
      await meanwhile();
      return sandbox.fetch(url, init);
    },
  });
  return { client, ledger, sandbox };
};

test("a database that crashes between claim and send keeps the claim: the email goes out once", async () => {
  const { client, ledger, sandbox } = sender(() => server.crash());
  const sent = await client.emails.send(email, { once: "k" });
  await server.again();
  // The receipt was lost with the connection, and is written again.
  await expect.poll(() => ledger.get("k"), { timeout: 60_000 }).toMatchObject({ state: "sent" });
  expect(await client.emails.send(email, { once: "k" })).toEqual(sent);
  expect(sandbox.state.emails).toHaveLength(1);
});

test("connections that are cut between claim and send cost no email and no key", async () => {
  const { client, ledger, sandbox } = sender(async () => {
    // Not events.once: it rejects with the error that the pool tells of first.
    const noticed = new Promise((resolve) => pool.once("remove", resolve));
    const other = poolOf(server.url, 1);
    await other.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
    );
    await Promise.all([other.end(), noticed]);
  });
  const sent = await client.emails.send(email, { once: "k" });
  expect(await ledger.get("k")).toMatchObject({ state: "sent", receipt: { id: sent.id } });
  expect(sandbox.state.emails).toHaveLength(1);
});

test("an email goes out twice when a failover loses the commit of its key, as the guide says", async () => {
  const { client, sandbox } = sender(async () => undefined);
  await client.emails.send(email, { once: "k" });
  await pool.query("DELETE FROM touchpoint_ledger");
  await client.emails.send(email, { once: "k" });
  expect(sandbox.state.emails).toHaveLength(2);
});
