import { Client, type ClientOptions, isTouchpointError } from "../../src/index.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/index.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { seeded } from "../support/simulation.ts";
import { campaignFaults, isOneCall, isWrite, type Job, kindOf, marksIn } from "./campaign-jobs.ts";
import { PauseWatch } from "./campaign-pauses.ts";

/** What a campaign came to. */
export interface Tally {
  readonly calls: number;
  readonly requests: number;
  readonly faults: number;
  readonly answered: number;
  readonly failed: number;
  readonly aborted: number;
  /** Each breach of a promise, in words. */
  readonly breaches: readonly string[];
}

const limits = {
  requests: { max: 100, windowMs: 10_000 },
  requestsPerDay: 1e9,
  emails: { max: 200, windowMs: 60_000 },
  emailsPerDay: 1e9,
  events: { max: 50, windowMs: 1_000 },
  eventsPerDay: 1e9,
};

/** How one call ended. */
export interface Ended {
  readonly job: Job;
  readonly mark: string;
  readonly error: unknown;
}

/** What the sandbox's own record says against what the call told. */
export const breachesOf = ({ job, mark, error }: Ended, marks: ReturnType<typeof marksIn>): string[] => {
  if (!isWrite(job)) return [];
  const effects = kindOf(job).effects(marks, mark);
  const what = `${job.kind} ${mark}`;
  if (effects > 1) return [`${what} happened ${effects} times`];
  if (error === undefined && effects !== 1) return [`${what} succeeded and did not happen`];
  const isDenied = isTouchpointError(error) && error.outcome === "not-applied" && isOneCall(job);
  return isDenied && effects === 1 ? [`${what} happened and was told not-applied: ${String(error)}`] : [];
};

let campaigns = 0;

const openSandbox = (seed: number, clock: FakeClock, apiKey: string): Sandbox => {
  const sandbox = createSandbox({ seed, clock, limits: false, apiKeys: [apiKey], keepRequests: 1 });
  sandbox.addContact({ email: "ada@example.com" });
  return sandbox;
};

/** Runs the jobs on a clock moved by hand, against a sandbox that fails at random. */
export const runCampaign = async (jobs: readonly Job[], seed: number): Promise<Tally> => {
  campaigns += 1;
  const apiKey = `campaign-${campaigns}`;
  const clock = new FakeClock();
  const sandbox = openSandbox(seed, clock, apiKey);
  const plans = campaignFaults.map((fault) =>
    sandbox.fail({ with: fault, chance: 0.01, times: Number.POSITIVE_INFINITY }),
  );
  const pauses = new PauseWatch(clock, sandbox.fetch);
  const options: ClientOptions = { baseUrl: "https://service.test", apiKey, limits, fetch: pauses.fetch };
  const client = new Client(options, { clock, random: seeded(seed) });
  const ended: Ended[] = [];
  let aborted = 0;
  const run = async (job: Job, index: number): Promise<void> => {
    const controller = new AbortController();
    const reason = new Error("aborted by the campaign");
    const mark = `m${campaigns}-${index}`;
    const cancel =
      job.abortAfterMs === undefined
        ? undefined
        : clock.after(job.abortAfterMs, () => controller.abort(reason));
    const { totalTimeoutMs } = job;
    const error: unknown = await kindOf(job)
      .call(client, mark, { signal: controller.signal, totalTimeoutMs })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    cancel?.();
    if (error === reason) aborted += 1;
    ended.push({ job, mark, error });
  };
  const running: Promise<void>[] = [];
  for (const [index, job] of jobs.entries()) {
    await clock.advance(job.pauseMs);
    running.push(run(job, index));
  }
  await clock.until(Promise.all(running));
  await client.close();
  const marks = marksIn(sandbox.state);
  const breaches = [...ended.flatMap((call) => breachesOf(call, marks)), ...pauses.breaches];
  if (ended.length !== jobs.length) breaches.push(`${jobs.length - ended.length} calls never settled`);
  const answered = ended.filter(({ error }) => error === undefined).length;
  return {
    calls: jobs.length,
    requests: sandbox.state.counts.requests,
    faults: plans.reduce((sum, { hits }) => sum + hits, 0),
    answered,
    failed: ended.length - answered - aborted,
    aborted,
    breaches,
  };
};
