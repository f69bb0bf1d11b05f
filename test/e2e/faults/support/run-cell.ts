import { getEventListeners } from "node:events";
import { Client, isTouchpointError } from "../../../../src/index.ts";
import { createSandbox } from "../../../../src/sandbox/index.ts";
import { turn } from "../../../support/fake-clock.ts";
import { type Finding, maxRetries } from "./expected.ts";
import type { FaultCase, Times } from "./fault-case.ts";
import { allClosed, connectionsTo } from "./sockets.ts";
import type { Subject } from "./subjects.ts";
import { WatchedClock } from "./watched-clock.ts";

/** One operation under one fault. */
export interface Cell {
  readonly subject: Subject;
  readonly fault: FaultCase;
  readonly times: Times;
  /** What the client is given to send with; its own pool where there is none. */
  readonly fetch?: typeof fetch;
}

/** What is known of a cell beside what the table holds; each must be as its name says. */
export interface Proof {
  readonly neverSaidNotAppliedOfSomethingApplied: boolean;
  readonly noRequestBeforeItsRetryAfter: boolean;
  readonly settledByItsDeadline: boolean;
  readonly attemptsCounted: boolean;
  /** After close(). */
  readonly socketsLeft: number;
  readonly timersLeft: number;
  readonly listenersLeft: number;
}

/** The proof of a cell in which everything is as it must be. */
export const clean: Proof = {
  neverSaidNotAppliedOfSomethingApplied: true,
  noRequestBeforeItsRetryAfter: true,
  settledByItsDeadline: true,
  attemptsCounted: true,
  socketsLeft: 0,
  timersLeft: 0,
  listenersLeft: 0,
};

/** What an answer says beside being one: of how many events it tells that they failed, or that nobody knows. */
const answerOf = (value: unknown): string => {
  const { results }: { results?: unknown } = Object(value);
  if (!Array.isArray(results)) return "a response";
  const told = (name: string, counts: (status: number) => boolean): string => {
    const count = results.filter(({ status }) => counts(status)).length;
    return count === 0 ? "" : `, ${count} reported as ${name}`;
  };
  return `a response${told("rejected", (status) => status >= 300)}${told("unknown", (status) => status === 0)}`;
};

/** A whole call's deadline; every fault has ended long before. */
const totalTimeoutMs = 30_000;

let keys = 0;

/** Runs one cell over real sockets. */
export const runCell = async ({
  subject,
  fault,
  times,
  fetch,
}: Cell): Promise<Finding & { proof: Proof }> => {
  keys += 1;
  const apiKey = `key-${keys}`;
  const sandbox = createSandbox({ apiKeys: ["sandbox-key", apiKey], limits: false, seed: 1 });
  const id = (await subject.prepare?.(sandbox)) ?? "";
  const prepared = sandbox.state.requests.length;
  const place = await fault.arrange(sandbox, times);
  const clock = new WatchedClock({ heldMs: fault.options?.timeoutMs, stalled: place.stalled });
  const client = new Client(
    {
      baseUrl: place.url,
      apiKey,
      limits: false,
      // Names that these tests look up themselves.
      allowInsecureHttp: true,
      maxRetries,
      totalTimeoutMs,
      timeoutMs: 20_000,
      ...fault.options,
      ...place.options,
      ...(fetch && { fetch }),
    },
    // No back-off: only what the service asks for is waited for.
    { clock, random: () => 0 },
  );
  if (place.warmUp) {
    await client.contacts.list();
    // undici takes a socket up again in the turn after its answer.
    await turn();
  }
  const before = place.warmUp ? prepared + 1 : prepared;
  const { signal } = new AbortController();
  place.strike?.();
  const since = clock.now();
  const settled = await subject.call(client, { signal }, id).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  const elapsedMs = clock.now() - since;
  const { error } = settled;
  const known = isTouchpointError(error) ? error : undefined;
  await client.close();
  // Sockets of somebody else stay open for him.
  const isOwnPool = place.options?.dispatcher === undefined && fetch === undefined;
  // What the client let go of ends here; what it kept stays, and shows.
  if (isOwnPool) await allClosed(place.port);
  const requests = sandbox.state.requests.slice(before);
  const gaps = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
  const wasApplied = subject.replay !== "read" && requests.some(({ applied }) => applied);
  const proof: Proof = {
    neverSaidNotAppliedOfSomethingApplied: !(wasApplied && known?.outcome === "not-applied"),
    noRequestBeforeItsRetryAfter:
      gaps.every((gap) => gap >= (fault.waitMs ?? 0)) &&
      requests.slice(1).every(({ at }) => at >= (place.notBefore ?? 0)),
    settledByItsDeadline: elapsedMs <= totalTimeoutMs,
    attemptsCounted: known === undefined || known.attempts >= requests.length,
    socketsLeft: isOwnPool ? connectionsTo(place.port).length : 0,
    timersLeft: clock.pending,
    listenersLeft: getEventListeners(signal, "abort").length,
  };
  const effects = subject.effects(sandbox.state, id);
  await place.close();
  return {
    told: error === undefined ? answerOf(settled.value) : error instanceof Error ? error.name : String(error),
    outcome: known?.outcome,
    requests: requests.length,
    effects,
    proof,
  };
};
