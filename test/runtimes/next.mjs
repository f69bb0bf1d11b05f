// Builds a Next.js application with Turbopack, one route handler of which runs the job, and another is the sandbox as the guide on
// testing mounts it. Starts it, uses the mounted sandbox, and prints what the job answers.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import process from "node:process";

const { INSTALLED, PACKAGE } = process.env;
const modules = dirname(INSTALLED);
const folder = join(modules, "next-app");
const next = join(modules, "node_modules/next/dist/bin/next");

const route = `
import worker from "./worker.mjs";

export const dynamic = "force-dynamic";
export const GET = (request) => worker.fetch(request, process.env);
`;
const sandboxRoute = `
import { createSandbox } from "touchpoint-sdk/sandbox";

const sandbox = createSandbox({ apiKeys: ["preview-key"], baseUrl: process.env.SITE_URL + "/api/touchpoint" });
export const GET = (request) => sandbox.fetch(request);
export { GET as DELETE, GET as PATCH, GET as POST };
`;
const layout = `
export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, "app/job"), { recursive: true });
// Turbopack follows no link that leads out of its root.
cpSync(PACKAGE, join(modules, "node_modules/touchpoint-sdk"), { recursive: true });
for (const name of ["worker.mjs", "steps.mjs"]) cpSync(name, join(folder, "app/job", name));
mkdirSync(join(folder, "app/api/touchpoint/[...path]"), { recursive: true });
writeFileSync(join(folder, "app/api/touchpoint/[...path]/route.js"), sandboxRoute);
writeFileSync(join(folder, "package.json"), '{ "private": true }');
writeFileSync(
  join(folder, "next.config.mjs"),
  `export default { turbopack: { root: ${JSON.stringify(modules)} } };`,
);
writeFileSync(join(folder, "app/layout.js"), layout);
writeFileSync(join(folder, "app/job/route.js"), route);

const probe = createServer().listen(0, "127.0.0.1");
await once(probe, "listening");
const port = String(probe.address().port);
probe.close();
const SITE_URL = `http://127.0.0.1:${port}`;
const env = { ...process.env, SITE_URL, NEXT_TELEMETRY_DISABLED: "1" };
const built = spawnSync(process.execPath, [next, "build"], { cwd: folder, env, encoding: "utf8" });
if (built.status !== 0 || /warning/i.test(built.stdout)) throw new Error(`${built.stdout}${built.stderr}`);

/** Creates and finds a contact through the mounted sandbox, with a client outside of the server. */
const useSandbox = async (url) => {
  const { Client } = createRequire(INSTALLED)("touchpoint-sdk");
  const client = new Client({ apiKey: "preview-key", baseUrl: `${url}/api/touchpoint` });
  const { id } = await client.contacts.create({ email: "ada@example.com" });
  await client.contacts.update(id, { name: "Ada" });
  const found = await client.contacts.find("ada@example.com");
  await client.close();
  if (found?.id !== id || found.name !== "Ada") throw new Error(`found ${JSON.stringify(found)}`);
};

const server = spawn(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", port], { cwd: folder, env });
server.stderr.pipe(process.stderr);
let text = "";
for await (const chunk of server.stdout.setEncoding("utf8")) {
  text += chunk;
  const url = /Local:\s+(\S+)/.exec(text)?.[1];
  if (url === undefined || !text.includes("Ready")) continue;
  await useSandbox(url);
  console.log(await (await fetch(`${url}/job`)).text());
  break;
}
server.kill();
await once(server, "exit");
rmSync(folder, { recursive: true });
