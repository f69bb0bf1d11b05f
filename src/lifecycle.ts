import { ClientClosed, DeadlineExceeded, inTime } from "./runtime/cancellation.ts";
import type { Clock } from "./runtime/clock.ts";

/** A resource that a client has opened. */
export interface Closable {
  close(): Promise<void>;
}

/** Carries the requests of clients, and can let requests in flight finish. */
export interface Carrier extends Closable {
  readonly slots: {
    readonly inUse: number;
    /** Refuses waiting calls, and new calls until `reopen`, except those of a drain. Returns how many calls waited. */
    startClosing(reason: unknown): number;
    reopen(): void;
    whenIdle(): Promise<void>;
  };
  /** Resolves when all calls have stored their results. */
  whenSettled(): Promise<void>;
}

/** A recorder of events. */
export interface Draining extends Closable {
  /** Events so far that have a result, and events that rejected without one. */
  readonly tally: { readonly sent: number; readonly dropped: number };
  /** Gives up events that are not in flight. */
  abandon(): void;
}

/** The result of closing a client. */
export interface CloseReport {
  /** Events that recorders sent during the close; each has its result. */
  readonly drained: number;
  /** Calls that waited for a limit or a slot and were refused. */
  readonly refused: number;
  /** Calls in flight that were aborted after `graceMs`. */
  readonly aborted: number;
  /** Events that recorders could not send: given up, or their request failed. Each reached `onDrop`. */
  readonly pending: number;
}

/** How long a ledger may take to store the results of emails: a ledger that hangs must not block `close`. */
const settlingMs = 1_000;

const isCarrier = (end: Closable): end is Carrier => "slots" in end;

/**
 * What a client and those created from it have opened. Nothing is kept alive: calls in flight keep themselves alive, and
 * an unused client has nothing left to close.
 */
type Owned = Set<WeakRef<Closable | Set<Draining>>>;

const forgetting = new FinalizationRegistry<() => void>((forget) => forget());

/** A node in the tree of clients made by withOptions(). Closing a client closes its descendants. */
export class ClientNode {
  /** Open recorders: they send requests, so they are drained before anything else is closed. */
  readonly recorders = new Set<Draining>();
  readonly #owned: Owned = new Set();
  /** The sets of the clients that this one was created from, and its own. A garbage-collected client closes nothing. */
  readonly #owners: readonly WeakRef<Owned>[];

  /** @param ends - what this client closes itself, not its parent. */
  constructor(ends: readonly Closable[], parent?: ClientNode) {
    const above = parent === undefined ? [] : parent.#owners.filter((one) => one.deref() !== undefined);
    const owners = [...above, new WeakRef(this.#owned)];
    this.#owners = owners;
    for (const thing of [this.recorders, ...ends]) {
      const owned = new WeakRef(thing);
      for (const owner of owners) owner.deref()?.add(owned);
      forgetting.register(thing, () => {
        for (const owner of owners) owner.deref()?.delete(owned);
      });
    }
  }

  /**
   * Refuses waiting calls, drains the recorders, and lets requests in flight finish; then aborts the rest.
   *
   * @param graceMs - how long to wait before aborting; undefined for no limit.
   */
  async close(graceMs: number | undefined, clock: Pick<Clock, "after">): Promise<CloseReport> {
    const within = async (limitMs: number | undefined, work: Promise<unknown>): Promise<void> => {
      try {
        await (limitMs === undefined ? work : inTime(work, { limitMs, clock }));
      } catch (error) {
        if (!(error instanceof DeadlineExceeded)) throw error;
      }
    };

    const things = [...this.#owned].flatMap((owned) => owned.deref() ?? []);
    const recorders = things.flatMap((thing) => (thing instanceof Set ? [...thing] : []));
    const ends = things.flatMap((thing) => (thing instanceof Set ? [] : thing));
    const carriers = ends.filter(isCarrier);
    let refused = 0;
    for (const { slots } of carriers) refused += slots.startClosing(new ClientClosed());
    const countOf = (kind: "sent" | "dropped"): number =>
      recorders.reduce((sum, { tally }) => sum + tally[kind], 0);
    const before = { sent: countOf("sent"), dropped: countOf("dropped") };
    const closed = recorders.map((recorder) => recorder.close());
    const settle = (): Promise<void> =>
      within(settlingMs, Promise.all(carriers.map((carrier) => carrier.whenSettled())));
    const finish = async (): Promise<void> => {
      await Promise.all(closed);
      await Promise.all(carriers.map(({ slots }) => slots.whenIdle()));
      await settle();
    };
    await within(graceMs, finish());
    const aborted = carriers.reduce((sum, { slots }) => sum + slots.inUse, 0);
    for (const recorder of recorders) recorder.abandon();
    // All at once: a call that one of them lets go must not be sent through another.
    await Promise.all(ends.map((end) => end.close()));
    await Promise.all(closed);
    await settle();
    for (const { slots } of carriers) slots.reopen();
    const drained = countOf("sent") - before.sent;
    // Counted last: also events that waited for room, and those of requests that failed.
    return { drained, refused, aborted, pending: countOf("dropped") - before.dropped };
  }
}
