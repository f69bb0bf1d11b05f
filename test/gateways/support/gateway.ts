import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../support/free-port.ts";

const run = promisify(execFile);

/** Where a gateway listens, what it forwards to, and its folder. */
export interface Places {
  readonly port: number;
  readonly servicePort: number;
  readonly folder: string;
  /** A free port, for a gateway that is administered over one. */
  readonly adminPort: number;
}

/** A program that stands between client and service. */
export interface GatewayProgram {
  readonly name: string;
  readonly program: string;
  /** Prints its version. */
  readonly version: readonly string[];
  /** Its configuration file: it waits three seconds for the service, and keeps an idle connection of a client for a second. */
  readonly config: (places: Places) => string;
  /** The arguments that start it in the foreground. */
  readonly start: (file: string, places: Places) => readonly string[];
  /** A signal, or the commands, that replace its configuration without losing a request. */
  readonly reload: NodeJS.Signals | ((file: string, places: Places) => readonly (readonly string[])[]);
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });

const opened = async (port: number, process: ChildProcess, output: () => string): Promise<void> => {
  // There is no event for it: a program listens when a connection succeeds.
  while (!(await isOpen(port))) {
    if (process.exitCode !== null) throw new Error(`it ended with ${process.exitCode}: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** A running gateway, in front of a port of this machine. */
export class Gateway {
  readonly url: string;
  readonly version: string;
  readonly #program: GatewayProgram;
  readonly #places: Places;
  readonly #file: string;
  readonly #process: ChildProcess;

  private constructor(
    program: GatewayProgram,
    running: { places: Places; file: string; process: ChildProcess; version: string },
  ) {
    this.#program = program;
    this.#places = running.places;
    this.#file = running.file;
    this.#process = running.process;
    this.version = running.version;
    this.url = `http://127.0.0.1:${running.places.port}`;
  }

  static async start(program: GatewayProgram, servicePort: number): Promise<Gateway> {
    const folder = await mkdtemp(join(tmpdir(), "touchpoint-gateway-"));
    const places = { port: await freePort(), adminPort: await freePort(), servicePort, folder };
    await mkdir(join(folder, "temp"));
    const file = join(folder, "config");
    await writeFile(file, program.config(places));
    const { stdout, stderr } = await run(program.program, program.version);
    const [, version = ""] = /(\d+\.\d+(?:\.\d+)?)/.exec(`${stdout}${stderr}`) ?? [];
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    const child = spawn(program.program, program.start(file, places), {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
    await opened(places.port, child, () => output);
    return new Gateway(program, { places, file, process: child, version });
  }

  async reload(): Promise<void> {
    const { reload } = this.#program;
    if (typeof reload === "string") return void this.#process.kill(reload);
    for (const [command = "", ...args] of reload(this.#file, this.#places)) await run(command, args);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const exited = once(this.#process, "exit");
      this.#process.kill("SIGTERM");
      const forced = setTimeout(() => this.#process.kill("SIGKILL"), 3_000);
      await exited;
      clearTimeout(forced);
    }
    await rm(this.#places.folder, { recursive: true, force: true });
  }
}
