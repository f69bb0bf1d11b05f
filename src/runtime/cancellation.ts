/**
 * A value that is linked into a ring, or alone. The lists of waiting calls are rings, because a long-lived Set keeps
 * finished calls alive: when V8 reorganizes a Set, the old table still references its entries.
 */
export class Link<T> {
  readonly value: T;
  /** The next link; the link itself if it is alone. */
  next: Link<T> = this;
  previous: Link<T> = this;

  /** @param ring - the link before which to add this one: the end of the ring that starts after `ring`. */
  constructor(value: T, ring?: Link<T>) {
    this.value = value;
    if (ring === undefined) return;
    this.previous = ring.previous;
    this.next = ring;
    ring.previous.next = this;
    ring.previous = this;
  }

  remove(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    // A removed link must not keep its neighbors alive.
    this.next = this;
    this.previous = this;
  }
}

type Listener = () => void;

const rings = new WeakMap<AbortSignal, Link<Listener>>();

const openRing = (signal: AbortSignal): Link<Listener> => {
  // Iterate over a copy, because a listener may remove itself or others from the ring.
  const ring = new Link<Listener>(function callListeners() {
    const listeners: Listener[] = [];
    for (let link = ring.next; link !== ring; link = link.next) listeners.push(link.value);
    for (const listener of listeners) listener();
  });
  rings.set(signal, ring);
  return ring;
};

/**
 * Calls back when the signal aborts. The returned function removes the callback.
 *
 * Calls that share a signal share one listener, which is removed after the last call. So listeners don't accumulate on
 * a signal that lives as long as the process, and Node doesn't warn about a leak. A signal that has already aborted
 * never calls back.
 */
export const whenAborted = (signal: AbortSignal | undefined, listener: Listener): Listener => {
  if (signal === undefined) return nothingToRelease;
  const ring = rings.get(signal) ?? openRing(signal);
  if (ring.next === ring) signal.addEventListener("abort", ring.value);
  const link = new Link(listener, ring);
  return function unlink() {
    if (link.next === link) return;
    link.remove();
    if (ring.next === ring) signal.removeEventListener("abort", ring.value);
  };
};

/** The abort reason of a scope when its time limit or the client's deadline has passed. */
export class DeadlineExceeded extends Error {
  /**
   * The time limit of the scope: the `totalTimeoutMs` of a call, or the `limitMs` of `inTime`. Undefined if the
   * client's deadline has passed.
   */
  readonly totalTimeoutMs: number | undefined;

  /** @param waitingFor - what the call was waiting for, for example `the limit emails`. */
  constructor(totalTimeoutMs: number | undefined, waitingFor?: string) {
    const wait = waitingFor === undefined ? "" : `, waiting for ${waitingFor}`;
    super(
      totalTimeoutMs === undefined
        ? `the client's deadline has passed${wait}`
        : `the call took longer than totalTimeoutMs (${totalTimeoutMs} ms${wait})`,
    );
    this.totalTimeoutMs = totalTimeoutMs;
  }
}

/** The abort reason of a call's scope when its client is closed. */
export class ClientClosed extends Error {
  constructor() {
    super("the client was closed");
  }
}

/** The part of a clock that a deadline uses. */
interface Timers {
  after(ms: number, callback: () => void): () => void;
}

/** The time limits of a scope. */
interface ScopeLimits {
  readonly totalTimeoutMs: number | undefined;
  /** The remaining time until the client's deadline, in milliseconds. */
  readonly clientLeftMs?: number | undefined;
  readonly clock: Timers;
}

/** The single signal that aborts a call. */
export interface AbortScope {
  readonly signal: AbortSignal | undefined;
  /** Removes the timer and the listeners, so that they don't accumulate on a signal that outlives the call. */
  readonly release?: (() => void) | undefined;
}

const never = Number.POSITIVE_INFINITY;

const nothingToRelease = (): void => undefined;

/**
 * Combines signals, and a deadline if there is one, into one signal. The combined signal aborts with the reason of the
 * first abort. It has its own controller and timer, for two reasons. On Node 20, garbage collection may remove an
 * `AbortSignal.any` with a timeout signal. And the timer of a timeout signal doesn't keep the process alive.
 */
export const openScope = (
  signals: readonly (AbortSignal | undefined)[],
  deadline?: ScopeLimits,
): AbortScope => {
  const sources: AbortSignal[] = [];
  for (const signal of signals) if (signal !== undefined && !sources.includes(signal)) sources.push(signal);
  const { totalTimeoutMs = never, clientLeftMs = never } = deadline ?? {};
  const leftMs = Math.min(totalTimeoutMs, clientLeftMs);
  if (sources.length < 2 && leftMs === never) return { signal: sources[0] };
  const controller = new AbortController();
  const links = sources.map((source) => whenAborted(source, () => controller.abort(source.reason)));
  const aborted = sources.find((source) => source.aborted);
  if (aborted !== undefined) controller.abort(aborted.reason);
  const endInTime = (): void =>
    controller.abort(new DeadlineExceeded(leftMs < totalTimeoutMs ? undefined : totalTimeoutMs));
  if (leftMs <= 0) endInTime();
  else if (deadline !== undefined && leftMs !== never) links.push(deadline.clock.after(leftMs, endInTime));
  const release = (): void => {
    for (const unlink of links) unlink();
  };
  return { signal: controller.signal, release };
};

/**
 * Ends the calls of a client when the client is closed. A closed client can be used again: each call keeps the signal
 * that was current when the call started.
 */
export class Lifetime {
  readonly #free: () => Promise<void>;
  readonly #pending = new Set<Promise<unknown>>();
  #controller = new AbortController();
  /** Aborts with ClientClosed when the client is closed. After that, new calls get a new signal. */
  signal: AbortSignal = this.#controller.signal;

  /** @param free - frees the resources that carry the calls. */
  constructor(free: () => Promise<void> = async () => undefined) {
    this.#free = free;
  }

  /** Makes `whenSettled` wait for work that outlives its request, such as storing the result of an email. */
  hold<T>(work: Promise<T>): Promise<T> {
    const letGo = (): boolean => this.#pending.delete(work);
    this.#pending.add(work);
    work.then(letGo, letGo);
    return work;
  }

  async whenSettled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  /** Aborts every call in flight, and then frees the resources that carry the calls. */
  async close(): Promise<void> {
    const closed = this.#controller;
    this.#controller = new AbortController();
    this.signal = this.#controller.signal;
    closed.abort(new ClientClosed());
    await this.#free();
  }
}

/**
 * Waits for work that has no signal of its own, until the signal aborts.
 *
 * @param waitingFor - the name of the work for the error of a deadline, for example `the ledger`.
 * @throws the signal's reason.
 */
export const untilAborted = <T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  waitingFor?: string,
): Promise<T> => {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      release();
      then();
    };
    const reasonOf = ({ reason }: AbortSignal): unknown =>
      reason instanceof DeadlineExceeded && waitingFor !== undefined
        ? new DeadlineExceeded(reason.totalTimeoutMs, waitingFor)
        : reason;
    const stop = (): void => settle(() => reject(reasonOf(signal)));
    // Don't use Promise.race with one promise for the signal: it would keep a reaction for every item of a run.
    const release = whenAborted(signal, stop);
    if (signal.aborted) stop();
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
};

/**
 * Iterates a source until a signal aborts, even while the source waits, so that a silent stream doesn't block the run.
 *
 * @throws the signal's reason.
 */
export const iterateUntilAborted = async function* <Item>(
  source: Iterable<Item> | AsyncIterable<Item>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item> {
  signal?.throwIfAborted();
  if (signal === undefined || Symbol.iterator in source) {
    for await (const item of source) {
      yield item;
      signal?.throwIfAborted();
    }
    return;
  }
  const iterator = source[Symbol.asyncIterator]();
  let hasEnded = false;
  try {
    for (;;) {
      const next = await untilAborted(iterator.next(), signal);
      hasEnded = next.done === true;
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    // A source that throws has ended. Call `return` on a source that still waits, but don't await it.
    hasEnded = true;
    if (signal.aborted) void Promise.resolve(iterator.return?.()).catch(() => undefined);
    throw error;
  } finally {
    // If the consumer stops early, wait for the end of the source, but only until the signal aborts.
    if (!hasEnded) await untilAborted(Promise.resolve(iterator.return?.()), signal);
  }
};

interface LimitedWait {
  readonly limitMs: number;
  readonly clock: Timers;
  readonly signal?: AbortSignal | undefined;
  /** The name of the work, for the abort reason. */
  readonly waitingFor?: string | undefined;
}

/**
 * Waits for work for a limited time. The work itself continues after that.
 *
 * @throws DeadlineExceeded after `limitMs`, or the reason of the signal.
 */
export const inTime = async <T>(
  work: Promise<T>,
  { limitMs, clock, signal, waitingFor }: LimitedWait,
): Promise<T> => {
  const scope = openScope([signal], { totalTimeoutMs: limitMs, clock });
  try {
    return await untilAborted(work, scope.signal, waitingFor);
  } finally {
    scope.release?.();
  }
};
