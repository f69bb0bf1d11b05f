import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "../../src/sandbox/index.ts";
import { certificateAuthority } from "./certificates.ts";
import { root } from "./programs.ts";

/** How a child process ended, with its output. */
export interface Ending {
  /** Its exit code, the signal that ended it, or a timeout. */
  readonly ended: string;
  readonly output: string;
}

const longestRunMs = 60_000;

const start = (file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) =>
  new Promise<Ending>((resolve) => {
    const options = { cwd, env, timeout: longestRunMs, killSignal: "SIGKILL", encoding: "utf8" } as const;
    execFile(file, args, options, (error, stdout, stderr) => {
      const ended =
        error === null ? "0" : error.killed ? `after ${longestRunMs} ms` : `${error.code ?? error.signal}`;
      resolve({ ended, output: `${stdout}${stderr}`.trim() });
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

/** A service, a key, and a folder with a few input files: what a reader of one document has. */
const openDesk = async (contacts: readonly string[]) => {
  const cwd = await mkdtemp(join(tmpdir(), "touchpoint-docs-"));
  await cp(join(root, "test/support/docs-files"), cwd, { recursive: true });
  for (const [name, text] of Object.entries(certificates)) await writeFile(join(cwd, name), text);
  const server = await serve(contacts);
  return {
    /** Runs a compiled program on what those before it left. */
    run: (file: string): Promise<Ending> =>
      start(process.execPath, [file], cwd, {
        ...process.env,
        TOUCHPOINT_BASE_URL: server.url,
        TOUCHPOINT_API_KEY: key,
      }),
    close: async (): Promise<void> => {
      await server.close();
      await rm(cwd, { recursive: true });
    },
  };
};

/** Runs compiled programs as a reader would, one after the other on each other's files and records. */
export const runInOrder = async (
  files: readonly string[],
  contacts: readonly string[] = people,
): Promise<readonly Ending[]> => {
  const desk = await openDesk(contacts);
  const endings: Ending[] = [];
  try {
    for (const file of files) endings.push(await desk.run(file));
  } finally {
    await desk.close();
  }
  return endings;
};

/** Runs at most `size` functions at a time; the others wait in order. */
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
