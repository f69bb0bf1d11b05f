import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { migration, sqlLedger } from "../../src/sql/index.ts";
import { PostgresServer, poolOf, queryOf as poolQuery } from "../support/postgres-server.ts";
import { drivers } from "./drivers.mjs";
import { losingProxy } from "./losing-proxy.ts";
import { overPostgres, queryOf, senders } from "./proof.ts";

const roundCount = 100;
// A claim, and what comes of it, is six statements of a racer at most.
const mostStatements = 7;

let server: PostgresServer;
let admin: ReturnType<typeof poolOf>;

beforeAll(async () => {
  server = await PostgresServer.start("fsync=off");
  admin = poolOf(server.url, 1);
  await admin.query(migration("postgres"));
});
afterAll(async () => {
  await admin.end();
  await server.stop();
});

test.each(overPostgres)(
  "with $name, two racers who lose a connection between statement and answer send one email: 100 rounds",
  async ({ name, adapter }) => {
    await admin.query("TRUNCATE touchpoint_ledger");
    const proxy = await losingProxy(Number(new URL(server.url).port));
    onTestFinished(() => proxy.close());
    const url = server.url.replace(/:\d+\//, `:${proxy.port}/`);
    const open = async () => {
      const opened = await drivers[name]?.open(url, "", "");
      onTestFinished(async () => void (await opened?.close()));
      return sqlLedger(queryOf(adapter, opened?.handles ?? {}), { dialect: "postgres" });
    };
    const racers = [await open(), await open()];
    const ledger = sqlLedger(poolQuery(admin), { dialect: "postgres" });
    const { sandbox, sendWith } = senders({ ledger: () => ledger });
    const keys = Array.from({ length: roundCount }, (_, round) => `key-${round}`);
    const toldAsSent = new Set<string>();
    for (const [round, key] of keys.entries()) {
      proxy.lose("touchpoint_ledger", 1 + (round % mostStatements));
      const race = racers.map((racer) => sendWith(racer, key).then(() => toldAsSent.add(key)));
      await Promise.allSettled(race);
    }
    proxy.lose("touchpoint_ledger", 0);

    const countOf = (key: string): number =>
      sandbox.state.emails.filter(({ subject }) => subject === key).length;
    const wrong: string[] = [];
    for (const key of keys) {
      const row = await ledger.get(key);
      if (row?.state !== "sent" && toldAsSent.has(key)) wrong.push(`${key}: a racer got its receipt`);
      // As a person does, who looks whether it was sent.
      if (row !== undefined && row.state !== "sent")
        await ledger.settle(key, countOf(key) > 0 ? "sent" : "not-sent", { force: true });
      await sendWith(ledger, key);
      if (countOf(key) !== 1) wrong.push(`${key}: ${countOf(key)} emails`);
    }
    console.log(`${name}: ${proxy.lost()} answers lost, ${toldAsSent.size} of ${roundCount} sent by a racer`);
    expect(wrong).toEqual([]);
    expect(proxy.lost()).toBeGreaterThan(roundCount / 2);
  },
);
