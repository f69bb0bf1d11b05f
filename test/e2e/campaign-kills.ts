import { type ChildProcess, spawn } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileLedger, type LedgerRow } from "../../src/index.ts";
import { createSandbox } from "../../src/sandbox/index.ts";
import { compile, root } from "../support/programs.ts";
import { marksIn } from "./campaign-jobs.ts";
import { socketFaults } from "./campaign-sockets.ts";

/** What a campaign of kills came to. */
export interface KillTally {
  readonly kills: number;
  /** Lives that were asked to end, and closed their client. */
  readonly closes: number;
  readonly events: number;
  readonly emailsTold: number;
  readonly cancelled: number;
  /** Keys of which nobody knows how their email ended. */
  readonly keysUnknown: number;
  readonly requests: number;
  readonly faults: number;
  readonly breaches: readonly string[];
}

const [program = ""] = await compile("campaign", [`${root}test/e2e/campaign-child.ts`]);

/** Ends the process when the service has its nth request from here; killed, it gets no answer to that. */
const endAtRequest = (
  child: ChildProcess,
  port: number,
  [nth, signal]: readonly [number, NodeJS.Signals],
): (() => void) => {
  let seen = 0;
  const started = channel("http.server.request.start");
  const onRequest = (message: unknown): void => {
    // As node:http publishes it.
    const { request } = message as { readonly request: IncomingMessage };
    if (request.socket.localPort !== port) return;
    seen += 1;
    if (seen === nth) child.kill(signal);
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

/** Every so many lives, one is asked to end in place of being killed. */
const livesPerClose = 3;

/** Starts the same work again and again, killed or closed in the middle each time, and lets the last one end. */
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
  let closed = 0;
  let cancelled = 0;
  /** Emails of which a cancel was cut off: they may be gone, and their key answers the first receipt. */
  const endedCancels = new Set<string>();
  const keys = fileLedger(join(folder, "ledger"));
  /** What is there; a cancelled email is not. */
  const found = () => {
    const { state } = sandbox;
    const kept = [...state.scheduled].filter(([, { status }]) => status === "SCHEDULED");
    return marksIn({ ...state, scheduled: new Map(kept) });
  };
  const hits = (): number => plans.reduce((sum, plan) => sum + plan.hits, 0);
  const keysThatAre = async (state: LedgerRow["state"]): Promise<ReadonlySet<string>> => {
    const found = new Set<string>();
    for await (const { key } of keys.list({ state })) found.add(key);
    return found;
  };

  /** One life of the program, and when and how it ends. */
  const live = async (life: number, end?: readonly [request: number, by: NodeJS.Signals]): Promise<void> => {
    const told = join(folder, `told-${life}`);
    const args = [program, url, folder, String(count), told, ...(end === undefined ? ["last"] : [])];
    const hitsBefore = hits();
    const before = { pending: await keysThatAre("pending"), unknown: await keysThatAre("unknown") };
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const disarm = end === undefined ? () => undefined : endAtRequest(child, port, end);
    const [code, signal] = await new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) => {
      child.once("exit", (...how) => resolve(how));
    });
    disarm();
    if (signal === "SIGKILL") killed += 1;
    else if (code !== 0) breaches.push(`life ${life} ended with ${code}`);
    const pending = await keysThatAre("pending");
    const unknown = await keysThatAre("unknown");
    if (signal === null) {
      // What it closed by itself left nothing open, and nothing unknown that no fault had hidden.
      if (end !== undefined) closed += 1;
      for (const key of pending) if (!before.pending.has(key)) breaches.push(`${key} was left pending`);
      // A cancel that finds its email gone cannot know whether it went out: an earlier life's cancel was cut off.
      // A key that was pending before has grown old.
      const isNew = (key: string): boolean =>
        !before.unknown.has(key) && !before.pending.has(key) && !endedCancels.has(key);
      const lost = [...unknown].filter(isNew);
      if (lost.length > hits() - hitsBefore) breaches.push(`${lost.join()} were left unknown`);
    }
    const { emails, kept } = found();
    const last = new Map<string, string>();
    for (const [subject, outcome] of readTold(told)) {
      emailsTold += 1;
      if (outcome === "cancelled") cancelled += 1;
      last.set(subject, outcome);
      if (
        outcome === "sent" &&
        (pending.has(subject) || (unknown.has(subject) && subject.startsWith("email")))
      )
        breaches.push(`${subject} was answered, and its key is not settled`);
    }
    for (const [subject, outcome] of last) {
      const sent = emails.get(subject) ?? kept.get(subject) ?? 0;
      const mayBeGone = endedCancels.has(subject);
      if (outcome === "sent" && sent !== 1 && !mayBeGone)
        breaches.push(`${subject} was told sent, and was ${sent} times`);
      if (["not-applied", "cancelled"].includes(outcome) && sent !== 0)
        breaches.push(`${subject} was told ${outcome}, and is there`);
      if (["cancelling", "unknown"].includes(outcome)) endedCancels.add(subject);
    }
  };

  for (let life = 1; life <= kills; life += 1)
    await live(life, [1 + ((life * 7 + seed) % 40), life % livesPerClose === 0 ? "SIGTERM" : "SIGKILL"]);
  await live(kills + 1);
  const { events, emails, kept } = found();
  for (let number = 0; number < count; number += 1) {
    const recorded = events.get(`event-${number}`) ?? 0;
    if (recorded !== 1) breaches.push(`event-${number} was recorded ${recorded} times`);
  }
  for (const [subject, sent] of [...emails, ...kept])
    if (sent > 1) breaches.push(`${subject} was sent ${sent} times`);
  const keysUnknown = (await keysThatAre("unknown")).size + (await keysThatAre("pending")).size;
  await close();
  rmSync(folder, { recursive: true, force: true });
  return {
    kills: killed,
    closes: closed,
    events: events.size,
    emailsTold,
    cancelled,
    keysUnknown,
    requests: sandbox.state.counts.requests,
    faults: hits(),
    breaches,
  };
};
