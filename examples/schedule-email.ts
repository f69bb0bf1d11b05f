// Emails for later: kept by the service, sent within about a minute after `sendAt`.
// The document names the list, change and cancellation of scheduled emails without their methods: these are inferred.
import { Client, isTouchpointError } from "touchpoint-sdk";

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

await client.emails.scheduled.cancel(scheduled.id);
// It is gone: a second cancel finds no record, and says so.
await client.emails.scheduled
  .cancel(scheduled.id)
  .catch((error: unknown) => isTouchpointError(error) && console.log(error.name, error.message));

await client.close();
