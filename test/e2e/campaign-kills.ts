import { type ChildProcess, spawn } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "../../src/sandbox/index.ts";
import { compile, root } from "../support/programs.ts";
import { marksIn } from "./campaign-jobs.ts";
import { socketFaults } from "./campaign-sockets.ts";

/** What a campaign of kills came to. */
export interface KillTally {
  readonly kills: number;
  readonly events: number;
  readonly emailsTold: number;
  readonly requests: number;
  readonly faults: number;
  readonly breaches: readonly string[];
}

const [program = ""] = await compile("campaign", [`${root}test/e2e/campaign-child.ts`]);

/** Kills the process when the service has its nth request from here; the request is answered, if at all, to nobody. */
const killAtRequest = (child: ChildProcess, port: number, nth: number): (() => void) => {
  let seen = 0;
  const started = channel("http.server.request.start");
  const onRequest = (message: unknown): void => {
    // As node:http publishes it.
    const { request } = message as { readonly request: IncomingMessage };
    if (request.socket.localPort !== port) return;
    seen += 1;
    if (seen === nth) child.kill("SIGKILL");
  };
  started.subscribe(onRequest);
  return () => started.unsubscribe(onRequest);
};

type Told = readonly [subject: string, outcome: string];

const readTold = (path: string): readonly Told[] =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter(Boolean)
        // As campaign-child.ts writes it, a line at a time.
        .map((line) => JSON.parse(line) as Told)
    : [];

/** Starts the same work again and again, killed in the middle each time, and lets the last one end. */
export const runKills = async (kills: number, count: number, seed: number): Promise<KillTally> => {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-campaign-"));
  const sandbox = createSandbox({ seed, limits: false, apiKeys: ["killed"], keepRequests: 1 });
  sandbox.addContact({ email: "ada@example.com" });
  const plans = socketFaults.map((fault) =>
    sandbox.fail({ with: fault, chance: 0.01, times: Number.POSITIVE_INFINITY }),
  );
  const { url, port, close } = await sandbox.listen();
  const breaches: string[] = [];
  let emailsTold = 0;
  let killed = 0;

  /** One life of the program; a number is the request at which it ends. */
  const live = async (life: number, killAt: number | undefined): Promise<void> => {
    const told = join(folder, `told-${life}`);
    const args = [program, url, folder, String(count), told];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const disarm = killAt === undefined ? () => undefined : killAtRequest(child, port, killAt);
    const [code, signal] = await new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) => {
      child.once("exit", (...how) => resolve(how));
    });
    disarm();
    if (signal === "SIGKILL") killed += 1;
    else if (code !== 0) breaches.push(`life ${life} ended with ${code}`);
    const { emails } = marksIn(sandbox.state);
    for (const [subject, outcome] of readTold(told)) {
      emailsTold += 1;
      const sent = emails.get(subject) ?? 0;
      if (outcome === "sent" && sent !== 1) breaches.push(`${subject} was told sent, and was ${sent} times`);
      if (outcome === "not-applied" && sent !== 0)
        breaches.push(`${subject} was told not-applied, and was sent`);
    }
  };

  for (let life = 1; life <= kills; life += 1) await live(life, 1 + ((life * 7 + seed) % 12));
  await live(kills + 1, undefined);
  const { events, emails } = marksIn(sandbox.state);
  for (let number = 0; number < count; number += 1) {
    const recorded = events.get(`event-${number}`) ?? 0;
    if (recorded !== 1) breaches.push(`event-${number} was recorded ${recorded} times`);
  }
  for (const [subject, sent] of emails) if (sent > 1) breaches.push(`${subject} was sent ${sent} times`);
  await close();
  rmSync(folder, { recursive: true, force: true });
  return {
    kills: killed,
    events: events.size,
    emailsTold,
    requests: sandbox.state.counts.requests,
    faults: plans.reduce((sum, { hits }) => sum + hits, 0),
    breaches,
  };
};
