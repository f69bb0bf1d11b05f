import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "../../src/sandbox/index.ts";
import { certificateAuthority } from "./certificates.ts";
import { root } from "./programs.ts";

/** How a program ended, with its output. */
export interface Ending {
  /** The exit code, the signal, a timeout, or that an earlier program failed. */
  readonly ended: string;
  readonly output: string;
}

const longestRunMs = 60_000;
const runner = join(root, "test/support/docs-runner.mjs");
const mark = "\u001e";

const start = (files: readonly string[], cwd: string, env: NodeJS.ProcessEnv) =>
  new Promise<readonly Ending[]>((resolve) => {
    const options = { cwd, env, timeout: longestRunMs, killSignal: "SIGKILL", encoding: "utf8" } as const;
    execFile(process.execPath, [runner, mark, ...files], options, (error, ...outputs) => {
      const end =
        error === null ? "0" : error.killed ? `after ${longestRunMs} ms` : `${error.code ?? error.signal}`;
      const [stdout = [], stderr = []] = outputs.map((output) => output.split(mark).slice(1));
      const endedAt = (at: number): string =>
        at < stdout.length - 1 ? "0" : at < stdout.length ? end : "not run";
      resolve(
        files.map((_, at) => ({
          ended: endedAt(at),
          output: `${stdout[at] ?? ""}${stderr[at] ?? ""}`.trim(),
        })),
      );
    });
  });

const key = "tp_documentation";

// The contacts that a reader of the document would have.
const people = ["ada@example.com", "grace@example.com", "alan@example.com"];

const authority = certificateAuthority();
const own = authority.issue("program");
const certificates = { "internal-ca.pem": authority.cert, "own.pem": own.cert, "own-key.pem": own.key };

const serve = async (contacts: readonly string[]) => {
  // Seeding uses another key, so that the program's key has its whole budget.
  const sandbox = createSandbox({ apiKeys: [key, "tp_seed"] });
  for (const email of contacts)
    await sandbox.fetch("http://sandbox/api/v1/contacts", {
      method: "POST",
      headers: { authorization: "Bearer tp_seed", "content-type": "application/json" },
      body: JSON.stringify({ email }),
    });
  return sandbox.listen({ port: 0 });
};

/** Creates what a reader of a document has: a service, a key, and a folder with a few input files. */
const openDesk = async (contacts: readonly string[]) => {
  const cwd = await mkdtemp(join(tmpdir(), "touchpoint-docs-"));
  await cp(join(root, "test/support/docs-files"), cwd, { recursive: true });
  for (const [name, text] of Object.entries(certificates)) await writeFile(join(cwd, name), text);
  const server = await serve(contacts);
  return {
    run: (files: readonly string[], more: NodeJS.ProcessEnv): Promise<readonly Ending[]> =>
      start(files, cwd, {
        ...process.env,
        TOUCHPOINT_BASE_URL: server.url,
        TOUCHPOINT_API_KEY: key,
        ...more,
      }),
    close: async (): Promise<void> => {
      await server.close();
      await rm(cwd, { recursive: true });
    },
  };
};

/** Runs compiled programs as a reader would: one after another, with the same files and records. */
export const runInOrder = async (
  files: readonly string[],
  contacts: readonly string[] = people,
  env: NodeJS.ProcessEnv = {},
): Promise<readonly Ending[]> => {
  const desk = await openDesk(contacts);
  try {
    return await desk.run(files, env);
  } finally {
    await desk.close();
  }
};

/** Runs at most `size` functions at a time. The others wait in order. */
export const atMost = (size: number) => {
  const waiting: (() => void)[] = [];
  let free = size;
  return async <T>(run: () => Promise<T>): Promise<T> => {
    if (free > 0) free--;
    else await new Promise<void>((resume) => waiting.push(resume));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
};
