// Emails for later: kept by the service, sent within about a minute after `sendAt`.
// The document names the list, change and cancellation of scheduled emails without their methods: these are inferred.
import { Client } from "touchpoint-sdk";

const client = new Client();
const hour = 3_600_000;

const scheduled = await client.emails.schedule({
  to: "grace@example.com",
  subject: "Tomorrow's meeting",
  text: "See you at ten.",
  // A Date, or an ISO 8601 string with a time zone.
  sendAt: new Date(Date.now() + 24 * hour),
});
console.log(scheduled.status, scheduled.sendAt);

await client.emails.scheduled.update(scheduled.id, { sendAt: new Date(Date.now() + 12 * hour) });

for await (const { id, status, sendAt } of client.emails.scheduled.list()) console.log(id, status, sendAt);

// Safe to repeat: one that is gone already is cancelled all the same.
await client.emails.scheduled.cancel(scheduled.id);

await client.close();
