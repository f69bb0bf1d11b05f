// Needs the program: redis-server
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "./free-port.ts";

/** A redis-server for one test. It writes nothing to disk. */
export class RedisServer {
  readonly port: number;
  readonly #options: readonly string[];
  #process: ChildProcess;

  private constructor(port: number, options: readonly string[], process: ChildProcess) {
    this.port = port;
    this.#options = options;
    this.#process = process;
  }

  /** @param options - options of redis-server, for example `"--requirepass", "secret"`. */
  static async start(...options: readonly string[]): Promise<RedisServer> {
    const port = await freePort();
    return new RedisServer(port, options, await RedisServer.#spawn(port, options));
  }

  /** Stops the server like a crash: all its data is lost. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  /** Starts an empty server on the same port. */
  async again(): Promise<void> {
    this.#process = await RedisServer.#spawn(this.port, this.#options);
  }

  static async #spawn(port: number, more: readonly string[]): Promise<ChildProcess> {
    const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    // Otherwise, a replica keeps the file of its first synchronization in the current folder.
    options.push("--rdb-del-sync-files", "yes");
    const server = spawn("redis-server", [...options, ...more], { stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of server.stdout) {
      if (String(line).includes("Ready to accept connections")) break;
    }
    return server;
  }
}
