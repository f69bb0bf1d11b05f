import { expect, test } from "vitest";
import { FakeClock } from "../../support/fake-clock.ts";
import { randomCases } from "../../support/random-cases.ts";
import {
  type Ended,
  type Message,
  type Request,
  RulesInFleet,
  RulesInProcess,
  randomLimits,
} from "../../support/rule-messages.ts";
import { seeded } from "../../support/simulation.ts";

const limits = ["requests", "emails", "events", "sending"] as const;
const priorities = ["interactive", "background"] as const;
const messagesOfWorld = 100;
const dayMs = 86_400_000;
// A process with requests in flight sends a message sooner than others take it for dead.
const mostSilentMs = 2_000;

/** Random messages of one to five processes, as they follow from what was granted. */
class RandomFleet {
  readonly #random: () => number;
  readonly #processes: readonly string[];
  readonly #weights: readonly number[];
  readonly limits;
  #count = 0;
  #inFlight: readonly (Request & { readonly process: string })[] = [];

  constructor(seed: number) {
    this.#random = seeded(seed * 7_919);
    this.#random();
    this.#processes = ["a", "b", "c", "d", "e"].slice(0, 1 + Math.floor(this.#random() * 5));
    // A fleet stops at the first request for which the day has no room; a process skips it. So all are alike there.
    const isDayShort = this.#random() < 0.5;
    this.#weights = isDayShort ? [this.#pick([1, 2, 7])] : [1, 2, 3, 7];
    this.limits = randomLimits((of) => this.#pick(of), isDayShort);
  }

  #pick<Value>(of: readonly [Value, ...Value[]] | readonly Value[]): Value {
    // The index is within the list.
    return of[Math.floor(this.#random() * of.length)] as Value;
  }

  get processesInFlight(): readonly string[] {
    return [...new Set(this.#inFlight.map(({ process }) => process))];
  }

  /** How long until the next message; minutes, and hours until about a day has passed, only while nothing is in flight. */
  pauseMs(): number {
    if (this.#inFlight.length === 0 && this.#random() < 0.2)
      return this.#pick([60_000, 200_000, 3 * 3_600_000, dayMs + 30_000 * Math.floor(this.#random() * 12)]);
    return this.#pick([5, 10, 50, 300, 1_000]);
  }

  next(): Message {
    const process = this.#pick(this.#processes);
    const own = this.#inFlight.filter((request) => request.process === process && this.#random() < 0.4);
    const ended = own.map(
      (request): Ended => ({ request, wasSent: this.#random() < 0.9, wasAnswered: this.#random() < 0.9 }),
    );
    this.#inFlight = this.#inFlight.filter((request) => !own.includes(request));
    const kind = { limit: this.#pick(limits), priority: this.#pick(priorities) };
    const asked = Array.from({ length: Math.floor(this.#random() * 8) }, (): Request => {
      const weight = kind.limit === "events" ? this.#pick(this.#weights) : 1;
      return { ...kind, id: `${this.#count++}`, weight };
    });
    const pause =
      this.#random() < 0.03 ? { limit: this.#pick(limits), ms: this.#pick([250, 2_000]) } : undefined;
    return { process, ended, pause, asked };
  }

  granted({ process, asked }: Message, ids: readonly string[]): void {
    const sent = asked.filter(({ id }) => ids.includes(id)).map((request) => ({ ...request, process }));
    this.#inFlight = [...this.#inFlight, ...sent];
  }
}

/**
 * One kind of requests asks at a time, and gives up what it does not get. That compares what each rule leaves: windows,
 * shares, the reserve, background's tenth, pauses and their probe, days. Not compared, because only one side has it:
 *
 * - which of several waiting kinds goes first: in a process by arrival, which `isForAll` refines; in a fleet by turns,
 *   and in equal parts among processes
 * - what only several processes need: silence, steps of the clock, lost keys, the floors of round trips
 */
test("a fleet grants what one process grants", async () => {
  const clock = new FakeClock();
  for (let seed = 1; seed <= randomCases(120); seed += 1) {
    const fleet = new RandomFleet(seed);
    const inProcess = new RulesInProcess(fleet.limits, clock);
    const inFleet = new RulesInFleet(inProcess.limiter, clock);
    const heardAt = new Map<string, number>();
    for (let at = 0; at < messagesOfWorld; at += 1) {
      for (const process of fleet.processesInFlight)
        if (clock.now() - (heardAt.get(process) ?? 0) >= mostSilentMs) {
          await inFleet.grant({ process, ended: [], pause: undefined, asked: [] });
          heardAt.set(process, clock.now());
        }
      const message = fleet.next();
      const expected = inProcess.grant(message);
      const granted = await inFleet.grant(message);
      heardAt.set(message.process, clock.now());
      const where = { seed, at, limits: fleet.limits, message };
      expect({ ...where, granted }).toEqual({ ...where, granted: expected });
      fleet.granted(message, granted);
      await clock.advance(fleet.pauseMs());
    }
  }
});
