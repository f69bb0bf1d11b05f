import { Client, isTouchpointError } from "../../../src/index.ts";
import { type SqlQuery, sqlLedger } from "../../../src/sql/index.ts";
import { poolOf, queryOf } from "../../support/postgres-server.ts";

// A program that sends one email for each key, and is killed at a step of its work; a step of 0 lets it end.
const [, , url = "", baseUrl = "", keys = "", diesAt = "0"] = process.argv;
const pool = poolOf(url);
const ask = queryOf(pool);

let steps = 0;
const step = (): void => {
  steps += 1;
  if (steps === Number(diesAt)) process.kill(process.pid, "SIGKILL");
};

/** A step before and after each statement: around the claim, and around the settlement. */
const query: SqlQuery = async (sql, params) => {
  // The ledger tries itself before its first claim, with a key of its own.
  if (params.some((param) => param?.startsWith("touchpoint:self-test:"))) return ask(sql, params);
  step();
  const rows = await ask(sql, params);
  step();
  return rows;
};

const client = new Client({
  apiKey: "key",
  baseUrl,
  limits: false,
  timeoutMs: 250,
  ledger: sqlLedger(query, { dialect: "postgres" }),
  // And between the claim and the response.
  hooks: { onRequest: step, onResponse: step },
});
for (const key of keys.split(",")) {
  const email = { to: "ada@example.com", subject: key, text: "Hello" };
  try {
    await client.emails.send(email, { once: key });
    process.stdout.write(`${key} sent\n`);
  } catch (error) {
    if (!isTouchpointError(error)) throw error;
    process.stdout.write(`${key} ${error.code} ${error.outcome}\n`);
  }
}
await client.close();
await pool.end();
