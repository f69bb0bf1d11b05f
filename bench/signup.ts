// Puts load on the sign-up service of the examples, with and without an export in the background.
//   npx tsx bench/signup.ts          SECONDS=60 CONNECTIONS=50
// Prints for each run: responses by status, p99 and the slowest response in ms, emails sent, and emails sent twice.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import autocannon from "autocannon";
import { createSandbox } from "touchpoint-sdk/sandbox";

const { SECONDS = "60", CONNECTIONS = "50" } = process.env;
const service = new URL("../examples/signup-service/main.ts", import.meta.url).pathname;

const run = async (name: string, exportEveryMs: number): Promise<number> => {
  const sandbox = createSandbox({ apiKeys: ["bench-key"] });
  sandbox.seedContacts(20_000);
  const { url, close } = await sandbox.listen({ port: 0 });
  const folder = mkdtempSync(join(tmpdir(), "signup-"));
  const env = {
    ...process.env,
    ...{ TOUCHPOINT_BASE_URL: url, TOUCHPOINT_API_KEY: "bench-key", DATA: folder },
    EXPORT_EVERY_MS: String(exportEveryMs),
  };
  const child = spawn(process.execPath, ["--import", "tsx", service], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout);
  let address = "";
  for await (const line of lines) {
    address = /^http\S+$/.exec(line)?.[0] ?? "";
    if (address !== "") break;
  }
  child.stdout.resume();
  let person = 0;
  const result = await autocannon({
    url: address,
    connections: Number(CONNECTIONS),
    duration: Number(SECONDS),
    requests: [
      {
        method: "POST",
        path: "/signups",
        headers: { "content-type": "application/json" },
        // Everyone signs up twice.
        setupRequest: (request) => {
          person += 1;
          return { ...request, body: JSON.stringify({ email: `p${Math.ceil(person / 2)}@example.com` }) };
        },
      },
    ],
  });
  child.kill("SIGTERM");
  await once(child, "exit");
  const sentTo = sandbox.state.emails.map(({ to }) => to);
  const twice = sentTo.length - new Set(sentTo).size;
  const statuses = JSON.stringify(result.statusCodeStats);
  const { p99, max } = result.latency;
  const rest = `p99 ${p99} ms, slowest ${max} ms, ${result.timeouts} timeouts, ${sentTo.length} emails, ${twice} twice`;
  console.log(`${name}: ${statuses}, ${rest}`);
  await close();
  rmSync(folder, { recursive: true, force: true });
  return p99;
};

const alone = await run("alone", 86_400_000);
const beside = await run("beside an export", 1_000);
console.log(`the export raises p99 by ${beside - alone} ms (250 allowed)`);
