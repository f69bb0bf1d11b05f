// Starts the sign-up service with its jobs and a nightly export. SIGTERM stops it.
//   TOUCHPOINT_BASE_URL=… TOUCHPOINT_API_KEY=… PORT=3000 npx tsx examples/signup-service/main.ts
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { Client, fileLedger } from "touchpoint-sdk";
import { writeCsv } from "touchpoint-sdk/files";
import { instrument } from "touchpoint-sdk/opentelemetry";
import { signupService } from "./app.ts";
import { welcomeJobs } from "./jobs.ts";

const { PORT = "0", DATA = "signup-data", LIST = "", EXPORT_EVERY_MS = "86400000" } = process.env;
mkdirSync(DATA, { recursive: true });

instrument(); // uses the global providers of the process
const logger = pino();
const client = new Client({ ledger: fileLedger(join(DATA, "sent.ledger")), logger, logLevel: "warn" });
const jobs = welcomeJobs(join(DATA, "welcomes.ndjson"), client);
const listId = LIST || (await client.lists.create({ name: `Signed up ${Date.now()}` })).id;
const app = signupService({ client, jobs, listId, logger });

// The export runs in the background: sign-ups go first. After a kill, the next export continues where the last one stopped.
const exportAll = () =>
  writeCsv(join(DATA, "contacts.csv"), client.contacts.list(), { checkpoint: join(DATA, "export.json") })
    .then(({ records }) => logger.info({ records }, "exported"))
    .catch((error: unknown) => logger.error(error, "export failed"));
const nightly = setInterval(exportAll, Number(EXPORT_EVERY_MS));
const sending = setInterval(() => void jobs.run(), 5_000);
void jobs.run();

app.addHook("onClose", async () => {
  clearInterval(nightly);
  clearInterval(sending);
  jobs.stop();
  await client.close({ graceMs: 20_000 });
});
process.once("SIGTERM", () => void app.close().then(() => console.log("stopped")));
console.log(await app.listen({ port: Number(PORT), host: "127.0.0.1" }));
