import { InFlight } from "../batch/in-flight.ts";
import type { CallScope } from "../call/scope.ts";
import { ConfigurationError, TouchpointError } from "../errors.ts";
import type { CallOptions, KeySource } from "../options/options.ts";
import { iterateUntilAborted, untilAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { contentHash } from "../runtime/content-hash.ts";
import { lineOf, tellSettled } from "../runtime/source-line.ts";
import { snapshot } from "../runtime/values.ts";
import {
  type Checkpoint,
  type CheckpointStore,
  CheckpointWriter,
  fileCheckpoint,
  type ListProgress,
  readCheckpoint,
} from "./checkpoint.ts";
import { LowWaterMark } from "./low-water-mark.ts";
import type { ProgressReporter } from "./progress.ts";
import type { WaitTracker } from "./waits.ts";

/** Anything that yields items: an array, a generator, a stream of objects. */
export type InputSource<Item> = Iterable<Item> | AsyncIterable<Item>;

/** An item and its position in the source. */
export interface Entry<Item> {
  readonly index: number;
  readonly item: Item;
  /** The line in the file that it was read from; undefined if there is none. */
  readonly line?: number | undefined;
}

export interface ResumableWork<Item, Report = object> {
  /** The method, for error messages. */
  readonly operation: string;
  readonly call: CallScope;
  readonly clock: Clock;
  readonly source: InputSource<Item>;
  /** The size of the batch that is being collected. */
  readonly batchSize: () => number;
  /** Batches processed at once. */
  readonly concurrency: number;
  readonly checkpoint: string | CheckpointStore | undefined;
  /** Of the client: a checkpoint belongs to the key that it was saved with. */
  readonly apiKey: KeySource;
  readonly options: Pick<CallOptions, "signal" | "totalTimeoutMs">;
  readonly progress: ProgressReporter;
  readonly waits: WaitTracker;
  /** Resolves when every entry is settled: done, or refused and reported. */
  readonly work: (entries: readonly Entry<Item>[], signals: RunSignals) => Promise<void>;
  /** What the run has done so far: the result, and `partial.report` of an error. */
  readonly report: (reading: Reading) => Report;
  readonly lagging?: DeferredStep<Item> | undefined;
  /** How items without an id get one. */
  readonly ids?: { readonly from: string; readonly of: (entry: Entry<Item>) => string | null } | undefined;
  /** Reads a checkpoint, but saves none. */
  readonly isDry?: boolean | undefined;
  /** Wraps the source, once it is known how many of its items an earlier run has settled. */
  readonly prepare?:
    | ((source: InputSource<Item>, done: number, signals: RunSignals) => AsyncIterable<Item>)
    | undefined;
}

/** Work for many batches at once, which may lag behind the checkpoint's mark. */
export interface DeferredStep<Item> {
  /** Continues where an earlier run stopped. */
  resume(before: Checkpoint): void;
  /** Handles an item that an earlier run settled. */
  passOver(entry: Entry<Item>): void;
  /** What a checkpoint stores of it. */
  readonly progress: ListProgress;
  finish(signals: RunSignals): Promise<void>;
}

/** The signals that end the waits of a run. */
export interface RunSignals {
  /** For requests: the caller's signal and the total time. Requests in flight may finish after `close()`. */
  readonly requests: AbortSignal | undefined;
  /** For the caller's own functions, which may hang: also aborts when the client is closed. */
  readonly callbacks: AbortSignal | undefined;
}

/** What was read from the source. */
export interface Reading {
  read: number;
  skipped: number;
}

/** Identifies a key without showing it; undefined for a function, whose keys change. */
const keyHash = (apiKey: KeySource): string | undefined =>
  typeof apiKey === "string" ? contentHash(`checkpoint ${apiKey}`).slice(0, 16) : undefined;

/** What errors call a checkpoint; a store has no name. */
const nameOf = (checkpoint: string | CheckpointStore | undefined): string =>
  typeof checkpoint === "string" ? `checkpoint ${checkpoint}` : "the checkpoint";

const refuseForeign = (
  before: Checkpoint | undefined,
  { apiKey, checkpoint }: Pick<ResumableWork<unknown>, "apiKey" | "checkpoint">,
): void => {
  const key = keyHash(apiKey);
  if (before?.key === undefined || key === undefined || before.key === key) return;
  throw new ConfigurationError(
    `${nameOf(checkpoint)} was saved with another API key, and may be of another workspace: delete it to start over; if this is a ` +
      'new key of the same workspace, remove "key" from the checkpoint to go on',
  );
};

/** What a checkpoint knows of an item: a hash of its content, and its id. */
type LastItem = Pick<Checkpoint, "last" | "ids">;

/** Connects the stages of one run. */
class Run<Item> {
  readonly reading: Reading = { read: 0, skipped: 0 };
  readonly #work: ResumableWork<Item>;
  readonly #signals: RunSignals;
  readonly #writer: CheckpointWriter | undefined;
  readonly #before: Checkpoint | undefined;
  readonly #mark: LowWaterMark;
  readonly #flight: InFlight;
  /** The last item of each batch, until the mark has passed it: it identifies the input. */
  readonly #lastItems = new Map<number, LastItem>();
  /** The last item before the mark. */
  #last: LastItem;
  #isForSource = false;
  readonly #key: string | undefined;

  constructor(
    work: ResumableWork<Item>,
    signals: RunSignals,
    {
      store,
      before,
    }: { readonly store: CheckpointStore | undefined; readonly before: Checkpoint | undefined },
  ) {
    this.#work = work;
    this.#signals = signals;
    this.#writer = store && !work.isDry ? new CheckpointWriter(store) : undefined;
    this.#before = before;
    this.#key = keyHash(work.apiKey);
    work.progress.watched = this;
    work.waits.onBegin = () => work.progress.touch();
    this.#last = { last: before?.last ?? null, ids: before?.ids };
    if (before !== undefined) work.lagging?.resume(before);
    this.#mark = new LowWaterMark(before?.done);
    this.#flight = new InFlight(work.concurrency);
  }

  async finish(): Promise<void> {
    const { progress, prepare } = this.#work;
    const done = this.#before?.done ?? 0;
    tellSettled(this.#work.source, done);
    const source = prepare?.(this.#work.source, done, this.#signals) ?? this.#work.source;
    let batch: Entry<Item>[] = [];
    const send = async (): Promise<void> => {
      const entries = batch;
      batch = [];
      const [first] = entries;
      // While one batch hangs, the others may only run a limited distance ahead.
      while (first !== undefined && first.index - this.#mark.mark > this.#widestGap)
        await this.#flight.next();
      if (entries.length > 0) await this.#flight.add(() => this.#process(entries));
    };
    try {
      this.#waitForSource(true);
      for await (const item of iterateUntilAborted(source, this.#signals.callbacks)) {
        this.#waitForSource(false);
        const index = this.reading.read++;
        if (!this.#wasDoneBefore(index, item)) {
          const line = lineOf(item);
          batch.push({ index, item: snapshot(item), ...(line !== undefined && { line }) });
        }
        if (batch.length >= this.#work.batchSize()) await send();
        this.#waitForSource(true);
      }
      this.#waitForSource(false);
      this.#refuseShorterInput();
      await send();
    } finally {
      // Also when the source fails: batches in flight are awaited, and count.
      await this.#flight.settled();
    }
    await this.#finishLagging();
    progress.update(this.#mark.mark, true);
  }

  /** What the work waits for now. */
  get waitingFor(): string | undefined {
    return this.#work.waits.now ?? (this.#isForSource && this.#flight.isEmpty ? "source" : undefined);
  }

  #waitForSource(isWaiting: boolean): void {
    // An array never makes the run wait.
    if (Symbol.iterator in this.#work.source) return;
    this.#isForSource = isWaiting;
    if (isWaiting) this.#work.progress.touch();
  }

  get #widestGap(): number {
    return 8 * this.#work.batchSize() * this.#work.concurrency;
  }

  #wasDoneBefore(index: number, item: Item): boolean {
    const done = this.#before?.done ?? 0;
    if (index >= done) return false;
    this.reading.skipped += 1;
    if (index === done - 1 && contentHash(item) !== this.#before?.last) {
      throw new ConfigurationError(
        `${nameOf(this.#work.checkpoint)} belongs to another input: item ${index} is not the one it ends with; give that input again, or delete the checkpoint to start over`,
      );
    }
    if (index === done - 1) this.#refuseOtherIds({ index, item, line: lineOf(item) });
    this.#work.progress.skip(index + 1);
    this.#work.lagging?.passOver({ index, item });
    return true;
  }

  #refuseOtherIds(last: Entry<Item>): void {
    const before = this.#before?.ids;
    const now = this.#idsAt(last);
    if (before === undefined || now === undefined) return;
    if (before.from === now.from && before.last === now.last) return;
    throw new ConfigurationError(
      `${nameOf(this.#work.checkpoint)} belongs to a run with ids from ${before.from}, and this one takes them from ${now.from}: item ${last.index} ` +
        `was ${before.last} and would now be ${now.last}, so that everything is recorded twice; give the same idFrom, or delete the checkpoint to start over`,
    );
  }

  #idsAt(entry: Entry<Item>): Checkpoint["ids"] {
    const { ids } = this.#work;
    return ids && { from: ids.from, last: ids.of(entry) };
  }

  #refuseShorterInput(): void {
    const done = this.#before?.done ?? 0;
    if (this.reading.read >= done) return;
    throw new ConfigurationError(
      `${nameOf(this.#work.checkpoint)} belongs to another input: it covers ${done} items, this one has ${this.reading.read}; give that input again, or delete the checkpoint to start over`,
    );
  }

  async #process(entries: readonly Entry<Item>[]): Promise<void> {
    await this.#work.work(entries, this.#signals);
    const end = entries.at(-1);
    if (end !== undefined)
      this.#lastItems.set(end.index, { last: contentHash(end.item), ids: this.#idsAt(end) });
    const before = this.#mark.mark;
    for (const { index } of entries) this.#mark.settle(index);
    const { mark } = this.#mark;
    this.#work.progress.update(mark);
    if (mark === before) return;
    // Batches are contiguous, so the mark is always after the last item of one.
    this.#last = this.#lastItems.get(mark - 1) ?? { last: null };
    for (const index of this.#lastItems.keys()) if (index < mark) this.#lastItems.delete(index);
    await this.#save();
  }

  async #finishLagging(): Promise<void> {
    const { lagging } = this.#work;
    if (lagging === undefined) return;
    await lagging.finish(this.#signals);
    await this.#save();
  }

  async #save(): Promise<void> {
    const list = this.#work.lagging?.progress;
    const key = this.#key;
    const { last, ids } = this.#last;
    const state = {
      version: 1,
      done: this.#mark.mark,
      last,
      ...(key && { key }),
      ...(ids && { ids }),
    } as const;
    const stored = this.#writer?.save(list === undefined ? state : { ...state, list });
    if (stored !== undefined) await untilAborted(stored, this.#signals.callbacks);
  }
}

/**
 * Processes a source in batches, with constant memory, so that a run can be killed at any time and started again.
 *
 * The checkpoint covers only items that are settled and have no unsettled item before them. Later items may have been
 * processed too, so processing an item twice must be harmless.
 *
 * @returns the report; an error carries it as `partial.report`.
 * @throws ConfigurationError when the checkpoint cannot be used, or belongs to another input.
 * @throws TimeoutError when the run takes longer than `totalTimeoutMs`.
 */
export const runResumable = async <Item, Report extends object>(
  work: ResumableWork<Item, Report>,
): Promise<Report> => {
  const { checkpoint, call } = work;
  const { signal } = call;
  const store = typeof checkpoint === "string" ? fileCheckpoint(checkpoint) : checkpoint;
  let run: Run<Item> | undefined;
  const report = (): Report => work.report(run?.reading ?? { read: 0, skipped: 0 });
  try {
    return await call.untilEnd(async () => {
      const before = readCheckpoint(store && (await untilAborted(store.load(), signal)));
      refuseForeign(before, work);
      if (
        before?.list !== undefined &&
        before.list.before < before.done &&
        work.lagging === undefined &&
        !work.isDry
      )
        throw new ConfigurationError(
          `${nameOf(checkpoint)} has rows that are still to be added to a list: give addToList, or delete it to start over`,
        );
      run = new Run(work, { requests: signal, callbacks: signal }, { store, before });
      await run.finish();
      return report();
    });
  } catch (error) {
    if (error instanceof TouchpointError) error.partial = { report: report() };
    throw error;
  } finally {
    work.progress.stop();
  }
};
