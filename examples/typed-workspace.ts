// Schemas of a workspace: the editor completes its custom fields and events, and the client refuses wrong ones.
import { Client, ValidationError } from "touchpoint-sdk";
import * as z from "zod";

// Any Standard Schema library works: zod, valibot, arktype. The schema describes the JSON that is sent.
const client = new Client({
  customFields: z.object({ plan: z.enum(["free", "pro"]), seats: z.optional(z.number()) }),
  events: { "order.placed": z.object({ total: z.number() }), "signed.up": z.object({}) },
});

const email = "mary@example.com";
const { contact } = await client.contacts.upsert({ email, customFields: { plan: "free", seats: 1 } });

// The client checks, and the service changes, only the fields that you pass. null clears a field.
const { customFields } = await client.contacts.update(contact.id, {
  customFields: { plan: "pro", seats: null },
});
console.log(customFields?.plan, customFields?.seats);

await client.events.record({ name: "order.placed", contact: { email }, properties: { total: 99 } });

// The client also checks values that the types cannot check, before it sends anything.
const total: number = JSON.parse('"99"');
const slip = client.events.record({ name: "order.placed", contact: { email }, properties: { total } });
await slip.catch((error) => console.log(error instanceof ValidationError && error.issues));

await client.close();
