// Schedules an email. The service sends it within about a minute after `sendAt`.
// The service's API document does not give the methods to list, change and cancel: the library infers them.
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
// A second cancel fails with a NotFoundError, because the email no longer exists.
await client.emails.scheduled
  .cancel(scheduled.id)
  .catch((error: unknown) => isTouchpointError(error) && console.log(error.name, error.message));

await client.close();
