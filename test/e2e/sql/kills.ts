import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { createSandbox } from "../../../src/sandbox/index.ts";
import { migration, sqlLedger } from "../../../src/sql/index.ts";
import { type PostgresServer, poolOf, queryOf } from "../../support/postgres-server.ts";
import { compile, root } from "../../support/programs.ts";

/** What a campaign of kills came to. */
export interface SqlKills {
  readonly kills: number;
  readonly keys: number;
  readonly emails: number;
  /** Keys of emails that went out although the process died: told as unknown, and settled by looking. */
  readonly settledSent: number;
  readonly settledNotSent: number;
  readonly breaches: readonly string[];
}

const [program = ""] = await compile("sql-sender", [`${root}test/e2e/sql/sender-child.ts`]);

const together = 3;
const keysPerRound = 6;
// A key that is sent takes six steps; the last of them are those of a second key.
const mostSteps = 14;

/**
 * Starts three processes at once that send the same emails, and kills them between claim, send and settlement, until so
 * many were killed. Then settles what is unknown by looking at the service, sends the rest, and counts.
 */
export const runSqlKills = async (server: PostgresServer, kills: number): Promise<SqlKills> => {
  const pool = poolOf(server.url);
  const query = queryOf(pool);
  for (const statement of migration("postgres").split(";\n").filter(Boolean)) await query(statement, []);
  const ledger = sqlLedger(query, { dialect: "postgres" });
  const sandbox = createSandbox({ limits: false, apiKeys: ["key"], keepRequests: 1 });
  const service = await sandbox.listen();
  const breaches: string[] = [];
  const told = new Set<string>();
  const keys: string[] = [];
  let killed = 0;

  const live = async (some: readonly string[], diesAt: number): Promise<void> => {
    const args = [program, server.url, service.url, some.join(), String(diesAt)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const [said, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
    if (signal === "SIGKILL") killed += 1;
    else if (code !== 0) breaches.push(`a process ended with ${code}`);
    for (const line of said.split("\n")) if (line.endsWith(" sent")) told.add(line.slice(0, -5));
  };

  for (let round = 0; killed < kills; round += 1) {
    const some = Array.from({ length: keysPerRound }, (_, at) => `key-${round}-${at}`);
    keys.push(...some);
    const lives = Array.from({ length: together }, (_, at) => {
      // Each starts with a key of its own, and meets those of the others.
      const own = [...some.slice(2 * at), ...some.slice(0, 2 * at)];
      // Nothing is drawn: the lives end at each step in turn.
      return live(own, 1 + ((round * together + at) % mostSteps));
    });
    await Promise.all(lives);
  }

  const countOf = (key: string): number =>
    sandbox.state.emails.filter(({ subject }) => subject === key).length;
  const settled = { sent: 0, "not-sent": 0 };
  for (const key of keys) {
    const row = await ledger.get(key);
    if (countOf(key) > 0 && row === undefined) breaches.push(`${key} went out, and its key is free`);
    if (told.has(key) && row?.state !== "sent") breaches.push(`${key} was told as sent, and its key is not`);
    if (row === undefined || row.state === "sent") continue;
    const as = countOf(key) > 0 ? "sent" : "not-sent";
    // No process is left that could be sending it.
    if (await ledger.settle(key, as, { force: true })) settled[as] += 1;
    else breaches.push(`${key} could not be settled`);
  }
  await live(keys, 0);
  for (const key of keys) {
    const count = countOf(key);
    if (count !== 1) breaches.push(`${key} went out ${count} times`);
  }
  await service.close();
  await pool.end();
  const { sent: settledSent, "not-sent": settledNotSent } = settled;
  const emails = sandbox.state.emails.length;
  return { kills: killed, keys: keys.length, emails, settledSent, settledNotSent, breaches };
};
