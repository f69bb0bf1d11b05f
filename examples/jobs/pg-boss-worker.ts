// Sends the emails that transactions have queued. Start any number of these, and kill any of them.
// Needs Node 22.12, pg and pg-boss 12, TOUCHPOINT_BASE_URL, TOUCHPOINT_API_KEY and DATABASE_URL.
import { Pool } from "pg";
import { PgBoss } from "pg-boss";
import { Client, isTouchpointError } from "touchpoint-sdk";
import { sqlLedger } from "touchpoint-sdk/sql";

export const queue = "welcome-emails";
export interface Welcome {
  readonly user: string;
  readonly to: string;
}

const connectionString = process.env.DATABASE_URL ?? "postgres://localhost/postgres";
const pool = new Pool({ connectionString });
// Without a listener, the loss of an idle connection would end the process.
pool.on("error", (error) => console.log(error.message));
// The ledger commits its claims on its own connections, never inside the transaction that queues an email.
const ledger = sqlLedger(async (sql, params) => (await pool.query(sql, [...params])).rows, {
  dialect: "postgres",
});
const client = new Client({ ledger, timeoutMs: Number(process.env.TIMEOUT_MS ?? 30_000) });
const boss = new PgBoss({ connectionString });
boss.on("error", (error) => console.log(error.message));
await boss.start();

await boss.work<Welcome>(queue, { pollingIntervalSeconds: 0.5 }, async ([job]) => {
  if (job === undefined) return;
  const { user, to } = job.data;
  try {
    const email = { to, subject: `Welcome, ${user}`, text: "Good to have you." };
    // The key is the user's: a second job for the same user sends nothing.
    await client.emails.send(email, { once: `welcome:${user}`, totalTimeoutMs: job.expireInSeconds * 1_000 });
  } catch (error) {
    if (!isTouchpointError(error)) throw error;
    // The limit is used up, or another worker claimed the key and may still be sending: try again later.
    const isTooEarly = error.code === "once_pending" || error.code === "rate_limited";
    const waitMs = error.code === "rate_limited" ? (error.retryAfterMs ?? 1_000) : 1_000;
    if (isTooEarly) await boss.send(queue, job.data, { startAfter: Math.ceil(waitMs / 1_000) });
    // The email may have been sent: a person has to look in the mail account and settle the key.
    else if (error.outcome === "unknown") console.log(`unknown ${user}`);
    else throw error;
  }
});

process.once("SIGTERM", async () => {
  await boss.stop();
  await client.close();
  await pool.end();
});
