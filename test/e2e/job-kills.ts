import { type ChildProcess, spawn } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Ledger } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";

/** A job runner with a queue of welcome emails. */
export interface JobRunner {
  /** The compiled worker. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly ledger: Ledger;
  /** Queues the email of a user again, after a person has settled its key. */
  again(user: string): Promise<void>;
  /** What the runner does from time to time: it takes jobs back from workers that died. */
  tick(): Promise<void>;
}

/** What a campaign of kills came to. */
export interface JobKills {
  readonly kills: number;
  readonly emails: number;
  readonly settled: number;
  /** Users whose key a person freed, because the service had no email of theirs. */
  readonly freed: readonly string[];
  /** Users with another number of emails than one. */
  readonly wrong: readonly string[];
}

const workers = 3;

/**
 * How old a claim is when a person looks. A request may leave at the very end of its claim, and this process is the service,
 * too: a look in the same millisecond would miss what is on its way.
 */
const lookAfterMs = 2_000;

/**
 * Sends the queued emails of these users with three workers at a time, and kills so many of them while the service has
 * their request. A person settles what is unknown by looking. Ends when every user has the email.
 */
export const runJobKills = async (
  users: readonly string[],
  kills: number,
  { program, env, ledger, again, tick }: JobRunner,
): Promise<JobKills> => {
  const sandbox = createSandbox({ apiKeys: ["key"], limits: false, latencyMs: 20 });
  const { url, port, close } = await sandbox.listen();
  const countOf = (user: string): number =>
    sandbox.state.emails.filter(({ subject }) => subject === `Welcome, ${user}`).length;
  const running = new Set<ChildProcess>();
  const start = (): void => {
    const own = { ...env, TOUCHPOINT_BASE_URL: url, TOUCHPOINT_API_KEY: "key", TIMEOUT_MS: "500" };
    const stdio: ["ignore", "ignore", "inherit"] = ["ignore", "ignore", "inherit"];
    const child = spawn(process.execPath, [program], { env: { ...process.env, ...own }, stdio });
    running.add(child);
    child.once("exit", () => running.delete(child));
  };
  let killed = 0;
  const started = channel("http.server.request.start");
  const onRequest = (message: unknown): void => {
    // As node:http publishes it.
    const { request } = message as { readonly request: IncomingMessage };
    if (request.socket.localPort !== port || killed === kills) return;
    killed += 1;
    // Whose request it is does not matter: with three at work, others are in the middle of theirs.
    const [victim] = running;
    victim?.kill("SIGKILL");
    if (victim !== undefined) running.delete(victim);
    start();
  };
  started.subscribe(onRequest);
  for (let count = 0; count < workers; count += 1) start();

  const open = new Set(users);
  let settled = 0;
  const freed: string[] = [];
  while (open.size > 0) {
    await tick();
    for (const user of open) {
      const key = `welcome:${user}`;
      const row = await ledger.get(key);
      if (row?.state === "sent") open.delete(user);
      if (row?.state !== "unknown" || Date.now() - row.since < lookAfterMs) continue;
      const wasSent = countOf(user) > 0;
      if (!(await ledger.settle(key, wasSent ? "sent" : "not-sent"))) continue;
      settled += 1;
      if (wasSent) continue;
      freed.push(user);
      await again(user);
    }
  }
  started.unsubscribe(onRequest);
  const ended = [...running].map((child) => once(child, "exit"));
  for (const child of running) child.kill("SIGTERM");
  await Promise.all(ended);
  await close();
  const wrong = users.filter((user) => countOf(user) !== 1);
  return { kills: killed, emails: sandbox.state.emails.length, settled, freed, wrong };
};
