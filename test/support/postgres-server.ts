// Needs the program: initdb
// Needs the program: postgres
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Pool } from "pg";
import type { SqlQuery } from "../../src/sql/index.ts";
import { freePort } from "./free-port.ts";

const run = promisify(execFile);

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root. In that case, it runs as the user that Debian's package creates. */
const whoRuns = async (): Promise<Ids | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = async (flag: string): Promise<number> => Number((await run("id", [flag, "postgres"])).stdout);
  return { uid: await idOf("-u"), gid: await idOf("-g") };
};

/** A PostgreSQL server with its own data directory. */
export class PostgresServer {
  /** The connection URL: database and user `postgres`, no password, on the loopback interface. */
  readonly url: string;
  readonly #folder: string;
  readonly #start: () => Promise<ChildProcess>;
  #process: ChildProcess;

  private constructor(
    url: string,
    folder: string,
    { start, process }: { readonly start: () => Promise<ChildProcess>; readonly process: ChildProcess },
  ) {
    this.url = url;
    this.#folder = folder;
    this.#start = start;
    this.#process = process;
  }

  /** @param settings - settings of postgres, for example `"max_connections=20"`. */
  static async start(...settings: readonly string[]): Promise<PostgresServer> {
    return PostgresServer.#open(settings, (folder, data, ids) => {
      // The locale must not depend on the machine.
      const how = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
      return run("initdb", how, { ...ids, cwd: folder });
    });
  }

  static async #open(
    settings: readonly string[],
    fill: (folder: string, data: string, ids: Ids | undefined) => Promise<unknown>,
  ): Promise<PostgresServer> {
    const ids = await whoRuns();
    const folder = await mkdtemp(join(tmpdir(), "touchpoint-postgres-"));
    if (ids !== undefined) await chown(folder, ids.uid, ids.gid);
    const data = join(folder, "data");
    await fill(folder, data, ids);
    const port = await freePort();
    const args = ["-D", data, "-k", folder, "-p", `${port}`, "-h", "127.0.0.1"];
    const start = (): Promise<ChildProcess> =>
      PostgresServer.#spawn([...args, ...settings.flatMap((each) => ["-c", each])], { ...ids, cwd: folder });
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    return new PostgresServer(url, folder, { start, process: await start() });
  }

  /**
   * Starts a streaming replica, which follows this server and answers reads.
   *
   * @param settings - settings of postgres.
   */
  async replica(...settings: readonly string[]): Promise<PostgresServer> {
    return PostgresServer.#open(settings, (folder, data, ids) =>
      run("pg_basebackup", ["-d", this.url, "-D", data, "-R", "-c", "fast", "--no-sync"], {
        ...ids,
        cwd: folder,
      }),
    );
  }

  /** Promotes a replica to primary, as a failover does. */
  async promote(): Promise<void> {
    const pool = poolOf(this.url, 1);
    await pool.query("SELECT pg_promote(true)");
    await pool.end();
  }

  /** Stops the server like a crash. */
  async crash(): Promise<void> {
    await this.#end("SIGQUIT");
  }

  /** Restarts the server after a crash, with all committed data. */
  async again(): Promise<void> {
    this.#process = await this.#start();
  }

  /** Stops the server and removes its data. */
  async stop(): Promise<void> {
    await this.#end("SIGINT");
    await rm(this.#folder, { recursive: true });
  }

  /** Waits for the end of the server, so that its child processes do not write into a removed folder. */
  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill(signal);
    await exited;
  }

  static async #spawn(args: readonly string[], options: { readonly cwd: string }): Promise<ChildProcess> {
    const server = spawn("postgres", args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
    const said: string[] = [];
    for await (const line of createInterface(server.stderr)) {
      said.push(line);
      if (/ready to accept (read-only )?connections/.test(line)) {
        server.stderr.resume();
        return server;
      }
    }
    throw new Error(`postgres did not start: ${said.join("\n")}`);
  }
}

/** Returns the query function of a pool, with the code from the guide. */
export const queryOf =
  (pool: Pool): SqlQuery =>
  async (sql, params) =>
    (await pool.query(sql, [...params])).rows;

/** Creates a pool that survives the loss of idle connections: the next query opens a new one. */
export const poolOf = (url: string, max = 4): Pool => {
  const pool = new Pool({ connectionString: url, max });
  pool.on("error", () => undefined);
  return pool;
};
