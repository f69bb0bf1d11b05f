import { Client } from "../../src/index.ts";

/** A program that makes one call, and prints how it failed. */
const client = new Client({ apiKey: "key", baseUrl: "http://127.0.0.1:1" });
await client.contacts.create({ email: "ada@example.com" }).catch(({ name, code, outcome, message }) => {
  process.stdout.write(JSON.stringify({ name, code, outcome, message }));
});
await client.close();
