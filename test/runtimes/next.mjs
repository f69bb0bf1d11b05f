// Builds a Next.js application with Turbopack whose route handler runs the job, starts it, and prints what it answers.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
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
writeFileSync(join(folder, "package.json"), '{ "private": true }');
writeFileSync(
  join(folder, "next.config.mjs"),
  `export default { turbopack: { root: ${JSON.stringify(modules)} } };`,
);
writeFileSync(join(folder, "app/layout.js"), layout);
writeFileSync(join(folder, "app/job/route.js"), route);

const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
const built = spawnSync(process.execPath, [next, "build"], { cwd: folder, env, encoding: "utf8" });
if (built.status !== 0 || /warning/i.test(built.stdout)) throw new Error(`${built.stdout}${built.stderr}`);

const server = spawn(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", "0"], { cwd: folder, env });
server.stderr.pipe(process.stderr);
let text = "";
for await (const chunk of server.stdout.setEncoding("utf8")) {
  text += chunk;
  const url = /Local:\s+(\S+)/.exec(text)?.[1];
  if (url === undefined || !text.includes("Ready")) continue;
  console.log(await (await fetch(`${url}/job`)).text());
  break;
}
server.kill();
await once(server, "exit");
rmSync(folder, { recursive: true });
