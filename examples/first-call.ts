// A first call. The client reads TOUCHPOINT_API_KEY and TOUCHPOINT_BASE_URL.
import { Client } from "touchpoint-sdk";

const client = new Client();

const { contact, created } = await client.contacts.upsert({
  email: "katherine@example.com",
  name: "Katherine Johnson",
  title: "Mathematician",
});
console.log(created ? "created" : "updated", contact.id);

// If you await a list, you get one page. If you iterate it, you get every contact.
const page = await client.contacts.list({ limit: 10 });
console.log(`${page.data.length} of ${page.total} contacts`);
for await (const { email, name } of client.contacts.list()) console.log(email, name);

await client.close();
