// One of several processes on a SQLite file: sends an email for each of thirty keys, which the others send too.
import { Client, isTouchpointError } from "../../src/index.ts";
import { migration, sqlLedger } from "../../src/sql/index.ts";
import { drivers } from "./drivers.mjs";
import { queryOf, rows } from "./proof.ts";

const [, , name = "", folder = "", baseUrl = ""] = process.argv;
const opened = await drivers[name]?.open("", folder, migration("sqlite"));
const adapter = rows.find((row) => row.name === name)?.adapter ?? "";
const ledger = sqlLedger(queryOf(adapter, opened?.handles ?? {}), { dialect: "sqlite" });
const client = new Client({ apiKey: "key", baseUrl, limits: false, ledger });
for (let key = 0; key < 30; key += 1) {
  const email = { to: "ada@example.com", subject: `k${key}`, text: "Hello" };
  await client.emails.send(email, { once: `k${key}` }).catch((error) => {
    if (!isTouchpointError(error) || error.code !== "once_pending") throw error;
  });
}
await client.close();
await opened?.close();
