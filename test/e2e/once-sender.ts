import { Client, fileLedger } from "touchpoint-sdk";

/** A program that sends one email under a key and prints what became of it. */
const [, , baseUrl = "", path = ""] = process.argv;
const client = new Client({ apiKey: "key", baseUrl, ledger: fileLedger(path) });
const email = { to: "ada@example.com", subject: "Welcome", text: "Hello" };
const result = await client.emails.send(email, { once: "welcome:ada" }).then(
  ({ id }) => ({ id }),
  ({ code, outcome, attempts }) => ({ code, outcome, attempts }),
);
process.stdout.write(JSON.stringify(result));
await client.close();
