import { openSync, writeSync } from "node:fs";
import { Client } from "touchpoint-sdk";

// One run, that writes each change down before it asks for the next.
const [, , baseUrl = "", snapshot = "", out = ""] = process.argv;
const client = new Client({ apiKey: "key", baseUrl, limits: false });
const file = openSync(out, "a");
let count = 0;
for await (const change of client.contacts.changes({ snapshot })) {
  writeSync(file, `${JSON.stringify(change)}\n`);
  count += 1;
  if (count % 20 === 0) process.send?.(count);
}
await client.close();
process.disconnect();
