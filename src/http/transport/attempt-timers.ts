import { Link } from "../../runtime/cancellation.ts";
import type { Cancel, Clock } from "../../runtime/clock.ts";

interface Due {
  readonly at: number;
  readonly callback: () => void;
}

/** Attempts of one length, in the order in which they end. */
interface Lane {
  /** The ring of what is due; it starts after this link. */
  readonly first: Link<Due>;
  /** When its timer ends. */
  dueAt: number;
  cancel: Cancel;
}

/**
 * One timer for all attempts with the same `timeoutMs`, because a timer for each costs as much as a sixth of the call.
 * It stays armed between calls and does not keep the process alive: the sockets of attempts do.
 */
export class AttemptTimers {
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #lanes = new Map<number, Lane>();

  constructor(clock: Pick<Clock, "now" | "after">) {
    this.#clock = clock;
  }

  /** Calls back after `ms`, like the clock itself. */
  after(ms: number, callback: () => void): Cancel {
    const { first } = this.#lanes.get(ms) ?? this.#open(ms);
    const link = new Link<Due>({ at: this.#clock.now() + ms, callback }, first);
    return function cancelAttemptTimer() {
      link.remove();
    };
  }

  /** Clears every timer. */
  close(): void {
    for (const { cancel } of this.#lanes.values()) cancel();
    this.#lanes.clear();
  }

  #open(ms: number): Lane {
    const first = new Link<Due>({ at: Number.POSITIVE_INFINITY, callback: () => undefined });
    const lane: Lane = { first, dueAt: 0, cancel: () => undefined };
    this.#lanes.set(ms, lane);
    this.#arm(lane, ms, this.#clock.now() + ms);
    return lane;
  }

  #arm(lane: Lane, ms: number, dueAt: number): void {
    lane.dueAt = dueAt;
    const inMs = dueAt - this.#clock.now();
    lane.cancel = this.#clock.after(inMs, () => this.#fire(lane, ms), { idle: true });
  }

  #fire(lane: Lane, ms: number): void {
    const { first, dueAt } = lane;
    // Not the time now: for what came due while the loop stood still, the sockets have to be read once more.
    while (first.next.value.at <= dueAt) {
      const due = first.next;
      due.remove();
      due.value.callback();
    }
    if (first.next === first) this.#lanes.delete(ms);
    else this.#arm(lane, ms, first.next.value.at);
  }
}
