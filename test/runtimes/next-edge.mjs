// Builds a Next.js application whose one route handler asks for the edge runtime, and ends as the build does.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";

const { INSTALLED, PACKAGE } = process.env;
const modules = dirname(INSTALLED);
const folder = join(modules, "next-edge-app");

const route = `
import { Client } from "touchpoint-sdk";

export const runtime = "edge";
export const GET = async () => Response.json(await new Client().contacts.list({ limit: 1 }));
`;
const layout = `
export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, "app/contacts"), { recursive: true });
// Turbopack follows no link that leads out of its root.
cpSync(PACKAGE, join(modules, "node_modules/touchpoint-sdk"), { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "private": true }');
writeFileSync(
  join(folder, "next.config.mjs"),
  `export default { turbopack: { root: ${JSON.stringify(modules)} } };`,
);
writeFileSync(join(folder, "app/layout.js"), layout);
writeFileSync(join(folder, "app/contacts/route.js"), route);

const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" };
const next = join(modules, "node_modules/next/dist/bin/next");
const { status } = spawnSync(process.execPath, [next, "build"], { cwd: folder, env, stdio: "inherit" });
process.exitCode = status ?? 1;
rmSync(folder, { recursive: true });
