import fc from "fast-check";
import { Client, memoryLedger } from "../../src/index.ts";
import { createSandbox, type Fault } from "../../src/sandbox/index.ts";
import { anyJob, campaignFaults, type Job, kindOf, marksIn } from "./campaign-jobs.ts";
import { breachesOf, type Ended, type Tally } from "./campaign-run.ts";
import { watchSends } from "./campaign-sends.ts";
import { allClosed, clientSockets, closeNow } from "./faults/support/sockets.ts";

/** Real waits are kept short: this much less than on a clock that is moved by hand. */
const shorter = 50;

const shortened = (fault: Fault): Fault =>
  typeof fault === "object" && "status" in fault && "retryAfter" in fault
    ? { ...fault, retryAfter: String(Number(fault.retryAfter) / shorter) }
    : fault;

/** What may happen to any request over a socket, each with a chance of one in a hundred. */
export const socketFaults: readonly Fault[] = campaignFaults.map(shortened);

const shortly = (ms: number | undefined): number | undefined => ms && Math.ceil(ms / (4 * shorter));

const callsAtOnce = 16;
const clientsAtOnce = 2;

/** Every so many calls, one of the clients is closed, and every so many, the service hangs up on everybody. */
const callsPerClose = 97;
const callsPerHangUp = 131;

/** Runs random calls over real sockets, with clients that are closed among them and a service that hangs up. */
export const runOverSockets = async (calls: number, seed: number): Promise<Tally & { closes: number }> => {
  const jobs = fc.sample(anyJob, { seed, numRuns: calls });
  const apiKey = `sockets-${seed}`;
  const sandbox = createSandbox({ seed, limits: false, apiKeys: [apiKey], keepRequests: 1 });
  sandbox.addContact({ email: "ada@example.com" });
  const plans = socketFaults.map((fault) =>
    sandbox.fail({ with: fault, chance: 0.01, times: Number.POSITIVE_INFINITY }),
  );
  const { url, port, close } = await sandbox.listen();
  const sends = watchSends(port);
  const ledger = memoryLedger();
  const all: Client[] = [];
  const open = (): Client => {
    const client = new Client(
      { baseUrl: url, apiKey, ledger, limits: false, timeoutMs: 1_000 },
      { random: () => 0 },
    );
    all.push(client);
    return client;
  };
  const clients = Array.from({ length: clientsAtOnce }, open);
  const closing: Promise<unknown>[] = [];
  const ended: Ended[] = [];
  let aborted = 0;

  const disturb = (index: number): void => {
    if (index % callsPerHangUp === callsPerHangUp - 1) closeNow(port);
    if (index % callsPerClose !== callsPerClose - 1) return;
    const at = ((index / callsPerClose) % clientsAtOnce) | 0;
    const [old] = clients.splice(at, 1, open());
    if (old !== undefined) closing.push(old.close({ graceMs: 0 }));
  };

  const run = async (job: Job, index: number): Promise<void> => {
    const mark = `s${seed}-${index}`;
    const controller = new AbortController();
    const reason = new Error("aborted by the campaign");
    const abortAfterMs = shortly(job.abortAfterMs);
    const timer = abortAfterMs && setTimeout(() => controller.abort(reason), abortAfterMs);
    disturb(index);
    const client = clients[index % clientsAtOnce] ?? open();
    const options = { signal: controller.signal, totalTimeoutMs: shortly(job.totalTimeoutMs) };
    const error: unknown = await kindOf(job)
      .call(client, mark, options)
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    clearTimeout(timer);
    if (error === reason) aborted += 1;
    ended.push({ job, mark, error });
  };

  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < jobs.length; index = next++) {
      const job = jobs[index];
      if (job !== undefined) await run(job, index);
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, work));
  // The closed ones again: a job of several calls may have made one after the close, which opens new sockets.
  await Promise.all([...closing, ...all.map((client) => client.close())]);
  const outlived = clientSockets.size;
  await allClosed(port);
  sends.stop();
  const marks = marksIn(sandbox.state);
  const breaches = [...ended.flatMap((call) => breachesOf(call, marks)), ...sends.breaches];
  if (outlived > 0) breaches.push(`${outlived} connections outlived their client`);
  await close();
  const answered = ended.filter(({ error }) => error === undefined).length;
  return {
    calls: ended.length,
    requests: sandbox.state.counts.requests,
    faults: plans.reduce((sum, { hits }) => sum + hits, 0),
    answered,
    failed: ended.length - answered - aborted,
    aborted,
    closes: closing.length,
    breaches,
  };
};
