// Keeps a copy of every contact in SQLite (Node 24). You can kill it at any time and start it again: it misses nothing.
import { DatabaseSync } from "node:sqlite";
import { Client } from "touchpoint-sdk";

const database = new DatabaseSync("contacts.db");
database.exec("CREATE TABLE IF NOT EXISTS contacts (id TEXT PRIMARY KEY, email TEXT, json TEXT) STRICT");
const save = database.prepare("INSERT OR REPLACE INTO contacts VALUES (?, ?, ?)");
const remove = database.prepare("DELETE FROM contacts WHERE id = ?");
const counts = { added: 0, changed: 0, removed: 0 };

const client = new Client();
// A page counts as processed when the loop requests the next one. By then, its transaction is on disk.
for await (const changes of client.contacts.changes({ snapshot: "contacts.snapshot" }).pages()) {
  database.exec("BEGIN");
  for (const change of changes) {
    counts[change.kind] += 1;
    if (change.kind === "removed") remove.run(change.id);
    else save.run(change.contact.id, change.contact.email, JSON.stringify(change.contact));
  }
  database.exec("COMMIT");
}
console.log(JSON.stringify(counts));

await client.close();
database.close();
