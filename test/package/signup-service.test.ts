import { cp } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root, type Scratch, scratch } from "./support/scratch.ts";

let project: Scratch;
beforeAll(async () => {
  project = await scratch(["fastify", "pino", "tsx", "@opentelemetry/api"]);
  // This project needs its own copy: from its folder, the installed package does not find the optional peer.
  await cp(project.installed, join(project.folder, "node_modules/touchpoint-sdk"), { recursive: true });
  await cp(join(root, "examples/signup-service"), join(project.folder, "signup-service"), {
    recursive: true,
  });
  await project.write("signup-service/package.json", '{ "type": "module" }');
});
afterAll(() => project.remove());

const program = `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  import { createInterface } from "node:readline";
  import { createSandbox } from "touchpoint-sdk/sandbox";

  const sandbox = createSandbox({ apiKeys: ["key"] });
  const { url, close } = await sandbox.listen();
  const env = { ...process.env, TOUCHPOINT_BASE_URL: url, TOUCHPOINT_API_KEY: "key", DATA: "data" };
  const service = spawn(process.execPath, ["--import", "tsx", "signup-service/main.ts"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  service.once("exit", (code) => code === 0 || process.exit(1));
  const lines = createInterface(service.stdout);
  const all = [];
  lines.on("line", (line) => all.push(line));
  // Search all lines: if two lines arrive together, \`once\` returns only the first.
  const addressIn = () => all.find((line) => /^http\\S+$/.test(line));
  while (addressIn() === undefined) await once(lines, "line");
  const address = addressIn();
  const signUp = () =>
    fetch(address + "/signups", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "ada@example.com" }),
    });
  const statuses = [(await signUp()).status, (await signUp()).status];
  const { emailsDue } = await (await fetch(address + "/health")).json();
  service.kill("SIGTERM");
  // The last line may arrive after "exit", but always before "close".
  const [code] = await once(service, "close");
  const { contacts, events, emails } = sandbox.state;
  console.log(JSON.stringify({
    statuses, emailsDue, code,
    // pino writes in the background, so the last line may be a log.
    said: all.filter((line) => !line.startsWith("{") && line !== address),
    made: [contacts.length, events.length, emails.length],
  }));
  await close();
`;

test("the sign-up service runs with the packed package, sends one email, and stops on SIGTERM", async () => {
  const { code, stdout, stderr } = await project.node("run.mjs", program);
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toEqual({
    statuses: [201, 201],
    emailsDue: 0,
    code: 0,
    said: ["stopped"],
    made: [1, 1, 1],
  });
});
