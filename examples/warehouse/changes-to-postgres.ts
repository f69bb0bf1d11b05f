// Keeps a copy of every contact in PostgreSQL, with removals. You can kill it at any time and start it again.
// Needs pg, TOUCHPOINT_BASE_URL, TOUCHPOINT_API_KEY and DATABASE_URL.
import { Pool } from "pg";
import { Client } from "touchpoint-sdk";

const pool = new Pool({ connectionString: process.env.DATABASE_URL ?? "postgres://localhost/postgres" });
const connection = await pool.connect();
await connection.query(
  "CREATE TABLE IF NOT EXISTS contacts (id text PRIMARY KEY, email text, contact jsonb)",
);
const save =
  "INSERT INTO contacts VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET email = $2, contact = $3";
const counts = { added: 0, changed: 0, removed: 0 };

const client = new Client();
// A page counts as processed when the loop requests the next one. By then, its transaction is committed.
for await (const changes of client.contacts.changes({ snapshot: "contacts.snapshot" }).pages()) {
  await connection.query("BEGIN");
  for (const change of changes) {
    counts[change.kind] += 1;
    if (change.kind === "removed") await connection.query("DELETE FROM contacts WHERE id = $1", [change.id]);
    else await connection.query(save, [change.contact.id, change.contact.email, change.contact]);
  }
  await connection.query("COMMIT");
}
console.log(JSON.stringify(counts));

connection.release();
await client.close();
await pool.end();
