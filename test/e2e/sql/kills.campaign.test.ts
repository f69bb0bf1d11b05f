import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../../support/postgres-server.ts";
import { runSqlKills } from "./kills.ts";

const kills = Number(process.env.TOUCHPOINT_SQL_KILLS ?? 12);

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 60_000);
afterAll(() => server.stop());

test(
  "processes that are killed between claim, send and settlement send each email once, and lose no key",
  async () => {
    const tally = await runSqlKills(server, kills);
    console.log(JSON.stringify(tally));
    expect(tally.breaches).toEqual([]);
    expect(tally.kills).toBeGreaterThanOrEqual(kills);
    // Died after the service had the email, and before.
    expect(tally.settledSent).toBeGreaterThan(0);
    expect(tally.settledNotSent).toBeGreaterThan(0);
  },
  60_000 + kills * 2_000,
);
