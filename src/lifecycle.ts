import { ClientClosed } from "./runtime/cancellation.ts";
import type { Clock } from "./runtime/clock.ts";

/** Something that a client has open. */
export interface Closable {
  close(): Promise<void>;
}

/** What carries the requests of clients, and can let those finish that are on the wire. */
export interface Carrier extends Closable {
  readonly slots: {
    readonly inUse: number;
    /** Refuses whoever waits, and whoever comes until `reopen`, but for what is drained; tells how many waited. */
    startClosing(reason: unknown): number;
    reopen(): void;
    whenIdle(): Promise<void>;
  };
  /** Resolves once calls have written down what became of them. */
  whenSettled(): Promise<void>;
}

/** A recorder of events. */
export interface Draining extends Closable {
  readonly pending: number;
  /** Gives up what is not on the wire. */
  abandon(): void;
}

/** What closing a client did. */
export interface CloseReport {
  /** Events of recorders that were taken before and have been settled. */
  readonly drained: number;
  /** Calls that waited, for a limit or a slot, and were refused. */
  readonly refused: number;
  /** Calls that were cut off on the wire once `graceMs` was over. */
  readonly aborted: number;
  /** Events of recorders that were given up; each has reached `onDrop`. */
  readonly pending: number;
}

/** How long a ledger may take to write down what became of emails: a ledger that hangs must not hold `close`. */
const settlingMs = 1_000;

const isCarrier = (end: Closable): end is Carrier => "slots" in end;

/** A client, and the clients that it was made from; one that is gone closes nothing any more. */
interface Ancestry {
  readonly node: WeakRef<ClientNode>;
  readonly parent: Ancestry | undefined;
}

const fromLiving = (from: Ancestry | undefined): Ancestry | undefined => {
  for (let at = from; at !== undefined; at = at.parent) if (at.node.deref() !== undefined) return at;
  return undefined;
};

const isIn = (ancestry: Ancestry, node: ClientNode): boolean => {
  for (let at: Ancestry | undefined = ancestry; at !== undefined; at = at.parent)
    if (at.node.deref() === node) return true;
  return false;
};

const forgetting = new FinalizationRegistry<() => void>((forget) => forget());

/** Keeps nothing alive: what is under way does that by itself, and what nobody uses has nothing left to close. */
class Owned<T extends object> {
  readonly #all = new Set<{ readonly thing: WeakRef<T>; readonly owner: Ancestry }>();

  /** Remembers a thing for as long as somebody uses it. */
  add(thing: T, owner: Ancestry): void {
    const entry = { thing: new WeakRef(thing), owner };
    this.#all.add(entry);
    forgetting.register(thing, () => this.#all.delete(entry));
  }

  /** What the client has, and those made from it. */
  of(node: ClientNode): readonly T[] {
    return [...this.#all].flatMap(({ thing, owner }) => (isIn(owner, node) ? (thing.deref() ?? []) : []));
  }
}

interface Tree {
  readonly recorders: Owned<Set<Draining>>;
  readonly ends: Owned<Closable>;
}

/** A node in the tree of clients made by withOptions(). Closing a client closes its descendants. */
export class ClientNode {
  /** Open recorders: they send, so they are drained before anything else is closed. */
  readonly recorders = new Set<Draining>();
  readonly #tree: Tree;
  readonly #ancestry: Ancestry;

  /** @param ends - what is the client's own to close, and not its parent's. */
  constructor(ends: readonly Closable[], parent?: ClientNode) {
    this.#tree = parent ? parent.#tree : { recorders: new Owned(), ends: new Owned() };
    this.#ancestry = { node: new WeakRef(this), parent: parent && fromLiving(parent.#ancestry) };
    this.#tree.recorders.add(this.recorders, this.#ancestry);
    for (const end of ends) this.#tree.ends.add(end, this.#ancestry);
  }

  /**
   * Refuses what waits, drains the recorders and lets finish what is on the wire; then cuts off the rest.
   *
   * @param graceMs - how long it waits before that; undefined for no bound.
   */
  async close(graceMs: number | undefined, clock: Pick<Clock, "after">): Promise<CloseReport> {
    const within = async (ms: number | undefined, work: Promise<unknown>): Promise<void> => {
      if (ms === undefined) return void (await work);
      let cancel: (() => void) | undefined;
      const timeUp = new Promise<void>((resolve) => {
        if (ms === 0) resolve();
        else cancel = clock.after(ms, resolve);
      });
      await Promise.race([work, timeUp]);
      cancel?.();
    };

    const recorders = this.#tree.recorders.of(this).flatMap((some) => [...some]);
    const ends = this.#tree.ends.of(this);
    const carriers = ends.filter(isCarrier);
    let refused = 0;
    for (const { slots } of carriers) refused += slots.startClosing(new ClientClosed());
    const pendingOf = (): number => recorders.reduce((sum, { pending }) => sum + pending, 0);
    const before = pendingOf();
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
    const pending = pendingOf();
    for (const recorder of recorders) recorder.abandon();
    // All at once: a call that is let go by one must not leave by another.
    await Promise.all(ends.map((end) => end.close()));
    await Promise.all(closed);
    await settle();
    for (const { slots } of carriers) slots.reopen();
    return { drained: before - pending, refused, aborted, pending };
  }
}
