import { ClientClosed, DeadlineExceeded, inTime } from "./runtime/cancellation.ts";
import type { Clock } from "./runtime/clock.ts";

/** A resource that a client has opened. */
export interface Closable {
  close(): Promise<void>;
}

/** Sends the requests of clients, and can let requests in flight finish. */
export interface Carrier extends Closable {
  readonly slots: {
    readonly inUse: number;
    /**
     * Refuses waiting calls, and new calls until `reopen`, except those of recorders. Returns how many calls were
     * waiting.
     */
    startClosing(reason: unknown): number;
    reopen(): void;
    whenIdle(): Promise<void>;
  };
  /** Resolves when all calls have stored their results. */
  whenSettled(): Promise<void>;
}

/** A recorder of events, which sends its events before it closes. */
export interface Draining extends Closable {
  /** How many events have got a result so far (`sent`), and how many have failed without one (`dropped`). */
  readonly tally: { readonly sent: number; readonly dropped: number };
  /** Drops events that are not in flight. */
  abandon(): void;
}

/** The result of closing a client. */
export interface CloseReport {
  /** The number of events that recorders sent during the close. Each got its result. */
  readonly drained: number;
  /**
   * The number of refused calls that waited for a limit or a slot. A call that pauses before a retry, or a long run
   * between two requests, also ends with a ConnectionError, but is not counted.
   */
  readonly refused: number;
  /** The number of calls in flight that were aborted after `graceMs`. */
  readonly aborted: number;
  /**
   * The number of events without a result: they were still pending when the client closed, or failed during the close.
   * `onDrop` got each of them.
   */
  readonly pending: number;
}

/** The maximum time for a ledger to store the results of emails, so that a hanging ledger doesn't block `close`. */
const settlingMs = 1_000;

const isCarrier = (closable: Closable): closable is Carrier => "slots" in closable;

/**
 * The resources that a client and the clients created from it have opened. The references are weak, so that they keep
 * no resource alive. `close` still finds everything that it must close: calls in flight keep their own resources alive,
 * and a client that is no longer used has nothing to close.
 */
type Owned = Set<WeakRef<Closable | Set<Draining>>>;

const registry = new FinalizationRegistry<() => void>((forget) => forget());

/** A node in the tree of clients made by withOptions(). Closing a client closes its descendants. */
export class ClientNode {
  /** The open recorders. They send requests, so `close` drains them before it closes anything else. */
  readonly recorders = new Set<Draining>();
  readonly #owned: Owned = new Set();
  /**
   * The `#owned` set of each ancestor, and that of this client. The references are weak, so that a client keeps no
   * ancestor alive.
   */
  readonly #ownedSets: readonly WeakRef<Owned>[];

  /** @param resources - the resources that this client closes. The parent closes the resources that they share. */
  constructor(resources: readonly Closable[], parent?: ClientNode) {
    const ancestorSets =
      parent === undefined ? [] : parent.#ownedSets.filter((ownedSet) => ownedSet.deref() !== undefined);
    const ownedSets = [...ancestorSets, new WeakRef(this.#owned)];
    this.#ownedSets = ownedSets;
    for (const entry of [this.recorders, ...resources]) {
      const owned = new WeakRef(entry);
      for (const ownedSet of ownedSets) ownedSet.deref()?.add(owned);
      registry.register(entry, () => {
        for (const ownedSet of ownedSets) ownedSet.deref()?.delete(owned);
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

    const entries = [...this.#owned].flatMap((owned) => owned.deref() ?? []);
    const recorders = entries.flatMap((entry) => (entry instanceof Set ? [...entry] : []));
    const resources = entries.flatMap((entry) => (entry instanceof Set ? [] : entry));
    const carriers = resources.filter(isCarrier);
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
    // Close all at once. Otherwise, a call that was waiting on a closed resource could still be sent through an open
    // one.
    await Promise.all(resources.map((resource) => resource.close()));
    await Promise.all(closed);
    await settle();
    for (const { slots } of carriers) slots.reopen();
    const drained = countOf("sent") - before.sent;
    // Count only now, to include events that waited for a batch in flight, and events whose requests failed.
    return { drained, refused, aborted, pending: countOf("dropped") - before.dropped };
  }
}
