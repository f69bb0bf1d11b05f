// Exports every contact to CSV, each exactly once, while others are added and deleted. One page is in memory at a time.
import { Client, type Contact } from "touchpoint-sdk";
import { writeCsv } from "touchpoint-sdk/files";

const client = new Client();

async function* everyContact(): AsyncGenerator<Contact> {
  let done = 0;
  for await (const page of client.contacts.list().pages()) {
    yield* page.data;
    done += page.data.length;
    console.error(`${done} of ${page.total}`);
  }
}

// The file appears when it is complete. If you need no progress, pass `client.contacts.list()` instead.
const { records, bytes } = await writeCsv("contacts-export.csv", everyContact(), {
  columns: { email: "E-mail", name: "Name", stage: "Stage", "customFields.plan": "Plan" },
});
console.log(`contacts-export.csv: ${records} contacts, ${bytes} bytes`);

await client.close();
