import { InFlight } from "../batch/in-flight.ts";
import type { Call } from "../call/call.ts";
import { ConnectionError, TouchpointError } from "../errors.ts";
import { DeadlineExceeded, inTime, iterateUntilAborted } from "../runtime/cancellation.ts";
import {
  type Checkpoint,
  type CheckpointStore,
  checkpoints,
  keyHash,
  readCheckpoint,
} from "../runtime/checkpoint.ts";
import { contentHash } from "../runtime/content-hash.ts";
import { Resumable } from "../runtime/resumable.ts";
import { stateFile } from "../runtime/saved-state.ts";
import { isUnreadable, lineOf, reportSettled } from "../runtime/source-line.ts";
import type { ProgressReporter } from "./progress.ts";

/** Anything that yields items: an array, a generator, a stream of objects. */
export type InputSource<Item> = Iterable<Item> | AsyncIterable<Item>;

/** An item and its position in the source. */
export interface Entry<Item> {
  /** The number of records before this one. */
  readonly index: number;
  readonly item: Item;
  /** The line number in the file that the item was read from; undefined if the item is not from a file. */
  readonly line?: number | undefined;
}

export interface SourceWork<Item, Report extends Rejecting = Rejecting> {
  /** The call of the run. Its signal ends every wait. */
  readonly call: Call;
  readonly source: InputSource<Item>;
  /** Returns the number of records in a complete batch, which can change during a run. */
  readonly batchSize: () => number;
  /** The number of batches to process at once. */
  readonly concurrency: number;
  readonly checkpoint: string | CheckpointStore | undefined;
  readonly progress: ProgressReporter;
  /** Processes entries. Resolves when every entry is settled: processed, or refused and reported. */
  readonly work: (entries: readonly Entry<Item>[]) => Promise<void>;
  /** Creates a report about the run so far, for the result or for `partial.report` of an error. */
  readonly report: (reading: Reading) => Report;
  /** Copies an item with the values that its JSON would have. */
  readonly readItem: (item: Item) => Item;
  /** The origin of event ids (`from`), and the id of an entry (`of`), for the checkpoint. */
  readonly ids?: { readonly from: string; readonly of: (entry: Entry<Item>) => string | null } | undefined;
  /** Whether the run reads a checkpoint without saving one. */
  readonly isDry?: boolean | undefined;
  /** Wraps the source. Called after the checkpoint was read. */
  readonly prepare?: ((source: InputSource<Item>, before: Checkpoint) => AsyncIterable<Item>) | undefined;
}

/** The part of a report that a run needs. */
interface Rejecting {
  readonly rejected: number;
}

/** What a run has read so far, and for how long it has run. */
export interface Reading {
  readonly read: number;
  readonly skipped: number;
  readonly elapsedMs: number;
  readonly rejectedBefore?: true;
}

/** One run: reads the source, keeps batches in flight, and saves the number of items before the first unsettled one. */
class Run<Item> {
  #records = 0;
  #unreadable = 0;
  #skipped = 0;
  #hasRejectedBefore = false;
  readonly #startedAt: number;
  readonly #work: SourceWork<Item>;
  readonly #flight: InFlight;
  /** The state of the run. It counts the items before the first unsettled one. */
  readonly #resumable: Resumable<Checkpoint>;
  /** Settled batches behind an unsettled one: the last record of each batch, keyed by the index of its first entry. */
  readonly #settled = new Map<number, Entry<Item>>();
  /** Whether the run is reading a source that can make it wait. An array cannot. */
  #isReading = false;

  constructor(work: SourceWork<Item>) {
    this.#work = work;
    this.#flight = new InFlight(work.concurrency);
    work.progress.waitsForSource = () => this.#isReading && this.#flight.isEmpty;
    const { checkpoint, isDry, call } = work;
    this.#startedAt = call.clock.now();
    const file = typeof checkpoint === "string" ? stateFile(checkpoint, checkpoints) : undefined;
    const store = file ?? (typeof checkpoint === "string" ? undefined : checkpoint);
    this.#resumable = new Resumable<Checkpoint>({
      // A custom store has no name.
      name: typeof checkpoint === "string" ? `checkpoint ${checkpoint}` : "the checkpoint",
      store: store && {
        load: async () => readCheckpoint(await this.#fromStore(() => store.load())),
        save: isDry ? undefined : (state) => this.#fromStore(() => store.save(state)),
        check: isDry ? undefined : file?.check,
      },
      // A checkpoint belongs to the API key of the run that saved it.
      fresh: { version: 1, done: 0, last: null, key: keyHash(call.context.settings) },
      signal: call.signal,
    });
  }

  /** Waits for the checkpoint store, but not longer than `timeoutMs`, so that a hanging store ends the run. */
  async #fromStore<T>(request: () => Promise<T>): Promise<T> {
    const { signal, clock, context } = this.#work.call;
    const limitMs = context.settings.timeoutMs;
    try {
      return await inTime((async () => request())(), { limitMs, signal, clock });
    } catch (cause) {
      if (signal?.aborted || !(cause instanceof DeadlineExceeded)) throw cause;
      const what = `the checkpoint store did not respond within timeoutMs, ${limitMs} ms`;
      throw this.#work.call.error(ConnectionError, what, {});
    }
  }

  get reading(): Reading {
    const elapsedMs = Math.round(this.#work.call.clock.now() - this.#startedAt);
    const read = this.#records + this.#unreadable;
    return {
      read,
      skipped: this.#skipped,
      elapsedMs,
      ...(this.#hasRejectedBefore && { rejectedBefore: true }),
    };
  }

  #isOfThisKey({ key }: Checkpoint): boolean {
    const own = this.#resumable.state.key;
    if (key === undefined || own === undefined || key === own) return true;
    this.#resumable.refuse(
      "was saved with another API key and may belong to another workspace. If this is a new key of the same " +
        'workspace, remove "key" from the checkpoint to continue. To start over, delete the checkpoint',
    );
  }

  async processAll(): Promise<void> {
    await this.#resumable.resume((before) => this.#isOfThisKey(before));
    const { source: sourceItems, batchSize, prepare, progress, call, readItem } = this.#work;
    const { done, rejected } = this.#resumable.state;
    this.#hasRejectedBefore = rejected === true;
    reportSettled(sourceItems, done);
    const batch: Entry<Item>[] = [];
    let records = 0;
    try {
      this.#isReading = !(Symbol.iterator in sourceItems);
      if (this.#isReading) progress.touch();
      for await (const item of iterateUntilAborted(
        prepare?.(sourceItems, this.#resumable.state) ?? sourceItems,
        call.signal,
      )) {
        const line = lineOf(item);
        const entry = { index: this.#records, item, ...(line !== undefined && { line }) };
        const isRecord = !isUnreadable(item);
        if (isRecord) this.#records += 1;
        else this.#unreadable += 1;
        if (entry.index < done) this.#passOver(entry, done);
        else {
          batch.push({ ...entry, item: readItem(item) });
          if (isRecord) records += 1;
        }
        // Unreadable lines alone don't fill a batch, because the index of its first record identifies a batch.
        if (records >= batchSize()) {
          records = 0;
          await this.#send(batch.splice(0));
        }
        if (this.#isReading) progress.touch();
      }
      this.#isReading = false;
      if (this.#records < done)
        this.#resumable.refuse(
          `belongs to another input: it covers ${done} items, but this one has ${this.#records}. Use the original input, or delete the checkpoint to start over`,
        );
      await this.#send(batch.splice(0));
    } finally {
      // Even if the source fails, wait for the batches in flight, because the checkpoint and the report count them.
      await this.#flight.settled();
    }
    progress.update(this.#resumable.state.done, true);
  }

  /** Skips an entry that an earlier run settled. The last such entry shows whether the checkpoint is of this input. */
  #passOver(entry: Entry<Item>, done: number): void {
    const { index } = entry;
    this.#skipped += 1;
    if (index === done - 1 && !isUnreadable(entry.item)) {
      const [before, now] = [this.#resumable.state, this.#stateAfter(entry)];
      if (now.last !== before.last)
        this.#resumable.refuse(
          `belongs to another input: item ${index} of this input differs from the last item that the checkpoint covers. Use the original input, or delete the checkpoint to start over`,
        );
      const [was, is] = [before.ids, now.ids];
      if (was && is && (was.from !== is.from || was.last !== is.last))
        this.#resumable.refuse(
          `belongs to a run that took event ids from ${was.from}, but this run takes them from ${is.from}: the id of item ${index} ` +
            `was ${was.last} and would now be ${is.last}, so every event would be recorded twice. Use the same idFrom, or delete the checkpoint to start over`,
        );
    }
    this.#work.progress.skip(index + 1);
  }

  /** The checkpoint when this entry and all entries before it are settled. */
  #stateAfter(entry: Entry<Item>): Checkpoint {
    const { ids } = this.#work;
    const before = this.#resumable.state;
    const hasRejected = before.rejected || this.#work.report(this.reading).rejected > 0;
    const rejected = hasRejected ? ({ rejected: true } as const) : {};
    const state = { ...before, done: entry.index + 1, last: contentHash(entry.item), ...rejected };
    return ids ? { ...state, ids: { from: ids.from, last: ids.of(entry) } } : state;
  }

  async #send(entries: readonly Entry<Item>[]): Promise<void> {
    const [first] = entries;
    if (first === undefined) return;
    const last = entries.findLast(({ item }) => !isUnreadable(item));
    // While one batch hangs, the other batches may run only a limited distance ahead.
    while (this.#settled.size >= 8 * this.#work.concurrency) await this.#flight.next();
    await this.#flight.add(async () => {
      await this.#work.work(entries);
      if (last === undefined) return;
      this.#settled.set(first.index, last);
      await this.#settle();
    });
  }

  async #settle(): Promise<void> {
    const before = this.#resumable.state;
    for (
      let last = this.#settled.get(before.done);
      last;
      last = this.#settled.get(this.#resumable.state.done)
    ) {
      this.#settled.delete(this.#resumable.state.done);
      this.#resumable.state = this.#stateAfter(last);
    }
    const { state } = this.#resumable;
    this.#work.progress.update(state.done);
    if (state !== before) await this.#resumable.save(state);
  }
}

/**
 * Processes a source in batches, with constant memory, so that a run can be killed at any time and started again.
 *
 * The checkpoint covers only settled items without an unsettled item before them. Later items may already be processed,
 * too, so processing an item twice must be harmless.
 *
 * @returns the report. If the run fails, the error has the report as `partial.report`.
 * @throws ConfigurationError when the checkpoint cannot be used, or belongs to another input.
 * @throws TimeoutError when the run takes longer than `totalTimeoutMs`.
 */
export const runSource = async <Item, Report extends Rejecting>(
  work: SourceWork<Item, Report>,
): Promise<Report> => {
  const run = new Run(work);
  try {
    return await work.call.untilEnd(async () => {
      await run.processAll();
      return work.report(run.reading);
    });
  } catch (error) {
    if (error instanceof TouchpointError) error.partial = { report: work.report(run.reading) };
    throw error;
  } finally {
    work.progress.stop();
  }
};
