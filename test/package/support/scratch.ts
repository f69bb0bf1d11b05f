import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** How a program ended, with its output. */
export interface Ending {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

const longestRunMs = 120_000;

/** Runs a program in a folder until it ends. Removes npm's settings from its environment. */
export const run = (file: string, args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}) =>
  new Promise<Ending>((resolve) => {
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE_OPTIONS|NODE_V8_COVERAGE)/i.test(name),
    );
    const env = { ...Object.fromEntries(own), NO_COLOR: "1", ...more };
    const options = { cwd, env, timeout: longestRunMs, maxBuffer: 64 * 2 ** 20, encoding: "utf8" } as const;
    execFile(file, args, options, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : (error.code ?? `${error.signal}`),
        stdout: stdout.trim(),
        stderr,
      });
    });
  });

/** A user's project. Its folder is below that of the installed package, so the project finds the package. */
export interface Scratch {
  readonly folder: string;
  /** The folder of the installed package. */
  readonly installed: string;
  write(name: string, text: string): Promise<void>;
  /** Writes a program and runs it. */
  node(name: string, text: string, env?: NodeJS.ProcessEnv): Promise<Ending>;
  remove(): Promise<void>;
}

// These packages are linked instead of installed, so that the tests need no network.
const withNodeTypes = ["typescript", "@types/node", "undici-types"];

/** Creates a project that finds the installed package and the linked packages. */
export const scratch = async (linked: readonly string[] = withNodeTypes): Promise<Scratch> => {
  const folder = await mkdtemp(join(inject("installed"), "project-"));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write("package.json", JSON.stringify({ name: "scratch", version: "1.0.0", private: true }));
  for (const name of linked) {
    const link = join(folder, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, "node_modules", name), link);
  }
  return {
    folder,
    installed: join(inject("installed"), "node_modules/touchpoint-sdk"),
    write,
    node: async (name, text, env) => {
      await write(name, text);
      return run(process.execPath, [name], folder, env);
    },
    remove: () => rm(folder, { recursive: true }),
  };
};
