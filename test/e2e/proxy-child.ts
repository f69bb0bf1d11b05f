import { Client, isTouchpointError } from "touchpoint-sdk";

// Says what came of a few calls, through the proxy of the environment.
const client = new Client({ proxy: "env", maxRetries: 0 });
try {
  const { created } = await client.contacts.upsert({ email: "ada@example.com" });
  const { total } = await client.contacts.list();
  const { id } = await client.emails.send({ to: "ada@example.com", subject: "Hi", text: "Hi" });
  console.log(JSON.stringify({ created, total, sent: id !== "" }));
} catch (error) {
  if (!isTouchpointError(error)) throw error;
  const { code, outcome, cause } = error;
  console.log(JSON.stringify({ code, outcome, cause: Reflect.get(Object(cause), "code") }));
}
await client.close();
