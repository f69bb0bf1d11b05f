// Exports every contact to the CSV file named on the command line.
import { Client, type Contact } from "touchpoint-sdk";
import { writeCsv } from "touchpoint-sdk/files";
import { progressBar } from "../../src/cli/progress-bar.ts";
import { report } from "./child.ts";
import { limitsAt } from "./limits.ts";

const now = (): number => performance.now();
const [file = ""] = process.argv.slice(2);
const client = new Client({ limits: limitsAt(process.env.DEMO_SPEED) });
const bar = progressBar(process.stderr, now);
const startedAt = now();

async function* everyContact(): AsyncGenerator<Contact> {
  let done = 0;
  for await (const { data, total } of client.contacts.list().pages()) {
    yield* data;
    done += data.length;
    const contacts = total ?? done;
    const windowMs = done / (now() - startedAt);
    const etaMs = (contacts - done) / windowMs;
    bar.update({ done, total: contacts, perSecond: windowMs * 1_000, etaMs, waitingFor: undefined });
  }
}

const columns = [
  "id",
  "email",
  "name",
  "title",
  "stage",
  "customFields.plan",
  "customFields.seats",
  "createdAt",
];
const written = await writeCsv(file, everyContact(), { columns });
bar.end();
await client.close();
await report({ kind: "exported", ...written, elapsedMs: now() - startedAt });
