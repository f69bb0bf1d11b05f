import { expect, test } from "vitest";
import { limitsOver } from "../../../src/fleet/limits-over.ts";
import { AttemptFailure, type Send } from "../../../src/http/types.ts";
import { documentedLimits, type Limits } from "../../../src/options/limits.ts";
import type { Priority } from "../../../src/options/priority.ts";
import type { RateLimiter } from "../../../src/rate-limit/limiter.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { memberOver } from "../../support/fleet.ts";
import { memoryPlace } from "../../support/memory-place.ts";
import { answered, paced, requestOn } from "../../support/paced.ts";
import { randomCases } from "../../support/random-cases.ts";
import { type KindOfRequest, type Request, RulesInFleet } from "../../support/rule-messages.ts";
import { aFailure, type SendSpec } from "../../support/sending.ts";
import { seeded } from "../../support/simulation.ts";

const kinds = ["requests", "emails", "events", "sending"] as const;
const budgetsOf = {
  requests: ["requests"],
  emails: ["requests", "emails"],
  events: ["requests", "events"],
  sending: ["requests", "emails"],
} as const;
const roundsOfWorld = 4;
const allWeights = [1, 2, 3, 7];

/** A request, when it arrives, and how it ends `latencyMs` after it is sent. */
interface Arrival extends Request {
  readonly limit: (typeof kinds)[number];
  readonly at: number;
  readonly latencyMs: number;
  readonly ending: "answered" | "unanswered" | "never sent" | 429 | 503;
  readonly pauseS: number;
}

/**
 * The requests that arrive at one process, in rounds. A round has one kind of requests for each of its priorities. All
 * times, including the times at which permits return, are whole milliseconds.
 */
class World {
  readonly #random: () => number;
  readonly limits: Limits;
  /** The requests in their order of arrival. */
  readonly arrivals: readonly Arrival[];

  constructor(seed: number, priorities: readonly (readonly Priority[])[]) {
    this.#random = seeded(seed * 7_919);
    this.#random();
    const limit = () => ({
      max: this.#pick([2, 4, 5, 10, 20]),
      windowMs: this.#pick([30_000, 60_000, 90_000]),
    });
    const days = this.#random() < 0.3 ? { requestsPerDay: 40, emailsPerDay: 12, eventsPerDay: 40 } : {};
    this.limits = { ...documentedLimits, requests: limit(), emails: limit(), events: limit(), ...days };
    // A kind's share depends on the weight of its latest request. A fleet applies a new weight at once, a process a
    // moment later. If a round has two kinds, all weights are therefore the same.
    const weights = priorities.some((round) => round.length > 1) ? [this.#pick(allWeights)] : allWeights;
    const arrivals: Omit<Arrival, "id">[] = [];
    for (let round = 0, at = 0; round < roundsOfWorld; round += 1, at += this.#pick([8_000_000, 20_000_000]))
      for (const priority of this.#pick(priorities))
        arrivals.push(...this.#arrivalsOf({ limit: this.#pick(kinds), priority }, weights, at));
    arrivals.sort((one, other) => one.at - other.at);
    this.arrivals = arrivals.map((one, id) => ({ ...one, id: `${id}` }));
  }

  #pick<Value>(of: readonly Value[]): Value {
    // The index is within the list.
    return of[Math.floor(this.#random() * of.length)] as Value;
  }

  #arrivalsOf(kind: Pick<Arrival, "limit" | "priority">, weights: readonly number[], at: number) {
    return Array.from(
      { length: Math.floor(this.#random() * 30) },
      () =>
        ({
          ...kind,
          at: at + Math.floor(this.#random() * 150_000),
          weight: kind.limit === "events" ? this.#pick(weights) : 1,
          latencyMs: 1 + Math.floor(this.#random() * 5_000),
          ending:
            this.#random() < 0.9 ? "answered" : this.#pick(["unanswered", "never sent", 429, 503] as const),
          pauseS: this.#pick([1, 5, 20]),
        }) as const,
    );
  }
}

/** The requests of a world, as a stage sends them. */
class Traffic {
  readonly sent: { readonly id: string; readonly at: number }[] = [];
  readonly refused: Arrival[] = [];
  /** The requests that have arrived, and the requests that have ended, since the test last emptied these lists. */
  arrived: Arrival[] = [];
  ended: Arrival[] = [];
  readonly #world: World;
  readonly #clock: FakeClock;

  constructor(world: World, clock: FakeClock) {
    this.#world = world;
    this.#clock = clock;
  }

  readonly transport: Send = async ({ operation }, { admission }) => {
    // The real transport checks this directly before it sends the first byte.
    if (admission?.mustWaitAgain) throw aFailure("requeued", false);
    const { id } = operation;
    this.sent.push({ id, at: this.#clock.now() });
    const arrival = this.#world.arrivals[Number(id)] as Arrival;
    await this.#clock.sleep(arrival.latencyMs);
    this.ended.push(arrival);
    const { ending, pauseS } = arrival;
    if (ending === "unanswered" || ending === "never sent")
      throw aFailure("connection", ending === "unanswered");
    return ending === "answered" ? answered() : answered(ending, { "retry-after": `${pauseS}` });
  };

  /** Sends each request through `send` at its time of arrival. */
  startThrough(send: SendSpec): void {
    for (const arrival of this.#world.arrivals)
      this.#clock.after(arrival.at, () => {
        this.arrived.push(arrival);
        this.#send(arrival, send);
      });
  }

  #send(arrival: Arrival, send: SendSpec): void {
    const { id: operation, limit, priority, weight } = arrival;
    const change = { operation, priority, weight, stopsAlone: limit === "sending" };
    send(requestOn(budgetsOf[limit], change)).catch((error: unknown) => {
      if (!(error instanceof AttemptFailure)) this.refused.push(arrival);
      else if (error.kind === "requeued") this.#send(arrival, send);
    });
  }
}

/** The waiting requests of one process, for which a fleet is asked at each moment. */
class Asking {
  readonly #fleet: RulesInFleet;
  readonly #waiting = new Map<
    string,
    { readonly kind: KindOfRequest; readonly requests: readonly Arrival[] }
  >();

  constructor(limiter: RateLimiter, clock: FakeClock) {
    this.#fleet = new RulesInFleet(limiter, clock);
  }

  #change({ limit, priority }: Arrival, change: (waiting: readonly Arrival[]) => readonly Arrival[]): void {
    const name = `${priority} ${limit}`;
    const requests = change(this.#waiting.get(name)?.requests ?? []);
    this.#waiting.set(name, { kind: { limit, priority }, requests });
  }

  arrive(arrival: Arrival): void {
    this.#change(arrival, (waiting) => [...waiting, arrival]);
  }

  leave(arrival: Arrival): void {
    this.#change(arrival, (waiting) => waiting.filter((one) => one !== arrival));
  }

  /** Sends the ended and the waiting requests to the fleet, and returns the ids of the granted requests. */
  async answer(ended: readonly Arrival[]): Promise<readonly string[]> {
    const asked = [...this.#waiting.values()];
    this.#waiting.clear();
    const granted = await this.#fleet.answer({
      process: "p",
      asked,
      ended: ended.map((request) => ({
        ...{ request, wasSent: request.ending !== "never sent" },
        wasAnswered: request.ending !== "never sent" && request.ending !== "unanswered",
      })),
      pauses: ended.flatMap(({ ending, pauseS, ...kind }) => {
        if (ending !== 429 && ending !== 503) return [];
        const stopped = this.#fleet.kindOf(kind).stoppedFor(pauseS * 1_000);
        return [{ limit: this.#fleet.nameOf(stopped), ms: pauseS * 1_000 }];
      }),
    });
    // A kind without waiting requests is dropped here, after one message that has listed it as empty.
    for (const { requests } of asked)
      for (const one of requests) {
        this.arrive(one);
        if (granted.includes(one.id)) this.leave(one);
      }
    return granted;
  }
}

/**
 * Two kinds wait, one of each priority. The test covers windows, shares, the reserve, the tenth of background work,
 * pauses with their probe, and days. Whenever the process decides, the fleet gets one message in the same millisecond.
 * Two intended differences are left out:
 *
 * - Kinds of the same priority: a process takes requests by arrival. A fleet takes kinds in turns, so that a long queue
 *   in one process does not delay other processes.
 * - Timing: a fleet counts whole milliseconds, asks again only when necessary, and grants up to 100 ms ahead. The next
 *   test covers that.
 */
test("with the same requests waiting, a fleet grants in every millisecond what a process sends", async () => {
  for (let seed = 1; seed <= randomCases(80); seed += 1) {
    const clock = new FakeClock();
    const world = new World(seed, [["interactive", "background"]]);
    const traffic = new Traffic(world, clock);
    const { send, limiter } = paced(traffic.transport, { clock, limits: world.limits });
    const asking = new Asking(limiter, clock);
    traffic.startThrough(send);
    for (let ms = clock.nextInMs; ms !== undefined; ms = clock.nextInMs) {
      await clock.advance(ms);
      await turn();
      const [sent, refused] = [traffic.sent.splice(0), traffic.refused.splice(0)];
      for (const one of traffic.arrived.splice(0)) if (!refused.includes(one)) asking.arrive(one);
      const granted = [...(await asking.answer(traffic.ended.splice(0)))];
      // After a refusal for the day, the process may send the requests behind it at once, so ask the fleet again.
      for (const one of refused) asking.leave(one);
      if (refused.length > 0) granted.push(...(await asking.answer([])));
      const where = { seed, at: clock.now(), limits: world.limits };
      expect({ ...where, granted: granted.sort() }).toEqual({
        ...where,
        granted: sent.map(({ id }) => id).sort(),
      });
    }
  }
});

/**
 * In a fleet, the permits of a request return at most this much later, because the store rounds up to a millisecond and
 * adds one.
 */
const roundingMs = 2;
/** The longest delay before a process reports the end of a request, such as the probe of a pause. */
const mostUnreportedMs = 150;

test("a process alone in a fleet sends the same requests in the same order, and as soon", async () => {
  for (let seed = 1; seed <= randomCases(80); seed += 1) {
    const world = new World(seed, [["interactive"], ["background"]]);
    const run = async (stageOf: (transport: Send, clock: FakeClock) => { readonly send: SendSpec }) => {
      const clock = new FakeClock();
      const traffic = new Traffic(world, clock);
      traffic.startThrough(stageOf(traffic.transport, clock).send);
      await clock.advance((world.arrivals.at(-1)?.at ?? 0) + 8_000_000);
      return traffic.sent;
    };
    const inProcess = await run((transport, clock) => paced(transport, { clock, limits: world.limits }));
    const inFleet = await run((transport, clock) => {
      const options = { id: "one", ...world.limits };
      const limits = limitsOver(() => memoryPlace(clock), options, { name: "limitsOver", faults: [] });
      return memberOver(limits, transport, clock);
    });
    const idsOf = (sent: Traffic["sent"]) => sent.map(({ id }) => id);
    expect({ seed, sent: idsOf(inFleet) }).toEqual({ seed, sent: idsOf(inProcess) });
    const pauses = world.arrivals.filter(({ ending }) => ending === 429 || ending === 503).length;
    const mostMs = roundingMs * inProcess.length + mostUnreportedMs * pauses;
    const lateMs = inProcess.map(({ at }, index) => (inFleet[index]?.at ?? Number.NaN) - at);
    const early = lateMs.filter((ms) => !(ms >= 0 && ms <= mostMs));
    expect({ seed, early }).toEqual({ seed, early: [] });
  }
});
