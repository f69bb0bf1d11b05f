import type { DayCount } from "../options/shared-limits.ts";
import { DailyLimit } from "../rate-limit/local-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Beat, BeatReply } from "./budget-script.ts";

type Report = Pick<Beat, "dayMax" | "usedEver" | "usedHeard" | "usedInDay" | "dayBorn">;

/** A daily count that many processes share: the store's last total plus the use here since then. */
export class SharedDay implements DayCount {
  readonly name: string;
  readonly max: number;
  readonly #clock: Clock;
  #total = 0;
  #born = "";
  /** Use by this process: in total, and as of the last report that the store answered. */
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

  /** Whether `weight` fits. Also true once earlier use may have expired: the store is then asked before anything is sent. */
  has(weight: number): boolean {
    if (this.used + weight <= this.max) return true;
    if (this.#freesAt > this.#clock.now()) return false;
    this.#isDoubtful = true;
    return true;
  }

  /** Whether a request waits, the last total leaves no room for it, and some of that use may have expired. */
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

  /** Use that no answer of the store has confirmed yet. */
  get unreported(): number {
    return this.#usedEver - this.#usedHeard;
  }

  /** What each heartbeat reports until the store answers one. */
  get report(): Report {
    return {
      dayMax: this.max,
      usedEver: this.#usedEver,
      usedHeard: this.#usedHeard,
      usedInDay: this.#lately.used,
      dayBorn: this.#born,
    };
  }

  /** Applies the store's answer to a report. */
  heard({ usedEver }: Pick<Report, "usedEver">, { dayBorn, dayTotal, dayFreesInMs }: BeatReply): void {
    this.#usedHeard = usedEver;
    this.#born = dayBorn;
    this.#total = dayTotal;
    this.#isDoubtful = false;
    this.#freesAt = this.#clock.now() + dayFreesInMs;
  }
}
