import type { DayCount } from "../options/shared-limits.ts";
import { DailyLimit } from "../rate-limit/local-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Beat, BeatReply } from "./budget-script.ts";

type Report = Pick<Beat, "dayMax" | "usedEver" | "usedHeard" | "usedInDay" | "dayBorn">;

/** A day's count that many processes share: what the store said last, and what was used here since. */
export class SharedDay implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  #total = 0;
  #born = "";
  /** What was used here, ever, and as of the last report that the store answered. */
  #usedEver = 0;
  #usedHeard = 0;
  readonly #lately: DailyLimit;
  #freesAt = 0;
  #isDoubtful = false;

  constructor(name: string, max: number, clock: Clock) {
    this.name = name;
    this.max = max;
    this.#clock = clock;
    this.#lately = new DailyLimit(name, max, clock);
  }

  get used(): number {
    return this.#total + this.unreported;
  }

  /** Whether `weight` fits; with the time at which more frees it may, and the store is asked before anything goes. */
  has(weight: number): boolean {
    if (this.used + weight <= this.max) return true;
    if (this.#freesAt > this.#clock.now()) return false;
    this.#isDoubtful = true;
    return true;
  }

  /** Whether a request waits although the store last said that the day was used up, and its time is over. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  add(weight: number): void {
    this.#usedEver += weight;
    this.#lately.add(weight);
  }

  freesInMs(): number {
    return Math.max(0, this.#freesAt - this.#clock.now());
  }

  /** What was used and no answer of the store has confirmed. */
  get unreported(): number {
    return this.#usedEver - this.#usedHeard;
  }

  /** What each heartbeat reports until the store has answered one. */
  get report(): Report {
    return {
      dayMax: this.max,
      usedEver: this.#usedEver,
      usedHeard: this.#usedHeard,
      usedInDay: this.#lately.used,
      dayBorn: this.#born,
    };
  }

  /** The store has counted a report. */
  heard({ usedEver }: Pick<Report, "usedEver">, { dayBorn, dayTotal, dayFreesInMs }: BeatReply): void {
    this.#usedHeard = usedEver;
    this.#born = dayBorn;
    this.#total = dayTotal;
    this.#isDoubtful = false;
    this.#freesAt = this.#clock.now() + dayFreesInMs;
  }
}
