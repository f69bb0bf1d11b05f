// What a user's first program does, with the package as it was installed: both module systems, the sandbox, the command.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import process from "node:process";
import { Client } from "touchpoint-sdk";
import { createSandbox } from "touchpoint-sdk/sandbox";

const equal = (got, expected) => {
  if (JSON.stringify(got) !== JSON.stringify(expected))
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
};

const sandbox = createSandbox({ apiKeys: ["key"] });
sandbox.seedContacts(300);
const { url, close } = await sandbox.listen();
const required = createRequire(import.meta.url)("touchpoint-sdk");
const done = [];
for (const [name, Made] of Object.entries({ ESM: Client, CommonJS: required.Client })) {
  const client = new Made({ apiKey: "key", baseUrl: url });
  let contacts = 0;
  for await (const _contact of client.contacts.list()) contacts += 1;
  const email = `${name.toLowerCase()}@example.com`;
  equal([contacts, await client.contacts.find(email)], [300 + done.length, null]);
  const { duplicate } = await client.events.record({
    id: `e-${name}`,
    name: "signed.up",
    contact: { email },
  });
  const { to } = await client.emails.send({ to: email, subject: "Hi", text: "Hi" }, { once: `hi:${name}` });
  equal([duplicate, to], [false, email]);
  await client.close();
  done.push(name);
}
equal(sandbox.state.emails.length, 2);
await close();
const touchpoint = (...args) =>
  execFileSync(process.execPath, ["node_modules/touchpoint-sdk/dist/cli.js", ...args], {
    encoding: "utf8",
  }).trim();
console.log(`${process.version} ${done.join(" and ")}, touchpoint ${touchpoint("--version")}`);
