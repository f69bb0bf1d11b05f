// A workspace's custom fields and events, written down once: the editor completes them, and a slip is never sent.
import { Client, ValidationError } from "touchpoint-sdk";
import * as z from "zod";

// Any Standard Schema will do: zod, valibot, arktype. It describes what JSON carries.
const client = new Client({
  customFields: z.object({ plan: z.enum(["free", "pro"]), seats: z.optional(z.number()) }),
  events: { "order.placed": z.object({ total: z.number() }), "signed.up": z.object({}) },
});

const email = "mary@example.com";
const { contact } = await client.contacts.upsert({ email, customFields: { plan: "free", seats: 1 } });

// Only what is sent is changed and checked; null clears a field.
const { customFields } = await client.contacts.update(contact.id, {
  customFields: { plan: "pro", seats: null },
});
console.log(customFields?.plan, customFields?.seats);

await client.events.record({ name: "order.placed", contact: { email }, properties: { total: 99 } });

// What the types cannot see is checked before it leaves.
const total: number = JSON.parse('"99"');
const slip = client.events.record({ name: "order.placed", contact: { email }, properties: { total } });
await slip.catch((error) => console.log(error instanceof ValidationError && error.issues));

await client.close();
