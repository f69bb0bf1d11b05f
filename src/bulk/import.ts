import { EffectTracker } from "../batch/with-deadline.ts";
import type { Call } from "../call/executor.ts";
import { ApiError, type Issue, TouchpointError, ValidationError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { describeIssues } from "../service/check.ts";
import type { Contact } from "../service/contacts/schema.ts";
import { maxAddressesPerRequest } from "../service/lists/schema.ts";
import { operations } from "../service/operations.ts";
import type { GivenContact } from "../workspace/contact-types.ts";
import { AddressTurns } from "./address-turns.ts";
import type { CheckpointStore } from "./checkpoint.ts";
import { requestOptions } from "./ingest-options.ts";
import { ListAdditions } from "./list-additions.ts";
import { type Progress, ProgressReporter } from "./progress.ts";
import { type Entry, type InputSource, type Reading, type RunSignals, runResumable } from "./resumable.ts";
import { WaitTracker } from "./waits.ts";
import { workFaults } from "./work-faults.ts";

/** A row that did not become a contact. */
export interface RejectedContact {
  /** As the source gave it. */
  readonly contact: GivenContact;
  /** Its place in the source, counted from 0. */
  readonly index: number;
  /** The service's status for it; undefined when it was never sent. */
  readonly status: number | undefined;
  /** The service's sentence, or what is wrong with the row. */
  readonly error: string;
}

/** A row that did. */
export interface ImportedContact {
  /** As the service has it now. */
  readonly contact: Contact;
  /** Its place in the source, counted from 0. */
  readonly index: number;
  /** `unchanged`: every field given was so already, and nothing was sent. */
  readonly result: "created" | "updated" | "unchanged";
}

/** How an import goes, beside what every call may set. */
export interface ImportOptions extends CallOptions {
  /**
   * The whole run, in milliseconds: at its end the run rejects with a TimeoutError, the checkpoint stands, and
   * starting it again goes on from there. Without it a run may last as long as its source, and the client's own
   * `totalTimeoutMs` bounds each row.
   */
  readonly totalTimeoutMs?: number | undefined;
  /** A path, or a store of one's own: how far the run has come, so that it can be killed and started again. */
  readonly checkpoint?: string | CheckpointStore | undefined;
  /** Contacts under way at once. Default 8. Rows of one address go one after the other, so the last of them wins. */
  readonly concurrency?: number | undefined;
  /**
   * Added to this list, without touching their other lists: 1,000 in one go, as many as a request takes, and the rest
   * at the end. The checkpoint knows which rows are still to be added, so a killed run leaves nobody out.
   */
  readonly addToList?: string | undefined;
  /** Called at most ten times a second, and at the end. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called, and awaited, once for each row that was refused. */
  readonly onRejected?: ((rejected: RejectedContact) => void | Promise<void>) | undefined;
  /** Called, and awaited, once for each row that is a contact now. */
  readonly onImported?: ((imported: ImportedContact) => void | Promise<void>) | undefined;
}

/** What became of an import: `read` = `skipped` + `created` + `updated` + `unchanged` + `rejected` + `unknown`. */
export interface ImportReport {
  /** Taken from the source. */
  readonly read: number;
  /** Settled by an earlier run, as the checkpoint says. */
  readonly skipped: number;
  /** New contacts. */
  readonly created: number;
  /** Known, and changed. */
  readonly updated: number;
  /** Known, and the same in every field given: nothing was sent. */
  readonly unchanged: number;
  /** Refused, each told to `onRejected`. */
  readonly rejected: number;
  /** Begun, but nobody knows what became of them; the next run does them again. */
  readonly unknown: number;
  /** How long the run took, in milliseconds. */
  readonly elapsedMs: number;
}

/** What became of one row. */
export interface RowResult<C extends Contact = Contact> {
  readonly contact: C;
  readonly result: ImportedContact["result"];
}

export interface ImportContext {
  readonly clock: Clock;
  readonly call: Call;
  /** What is wrong with a row. */
  readonly issues: (input: GivenContact) => readonly Issue[] | Promise<readonly Issue[]>;
  /** Creates the contact, or updates the one with its email unless nothing would change. */
  readonly upsert: (call: Call, input: GivenContact, options: CallOptions) => Promise<RowResult>;
}

type Counts = { -readonly [K in "created" | "updated" | "unchanged" | "rejected"]: number };

const operation = "contacts.import";
const defaultConcurrency = 8;
const batchSize = 25;

// These say that this row cannot be; anything else says that the service cannot, and ends the run.
const isAboutTheRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 404, 409, 413, 422].includes(error.status);

/** Imports the rows of one run, and counts what became of each. */
class Import {
  readonly effect = new EffectTracker();
  readonly counts: Counts = { created: 0, updated: 0, unchanged: 0, rejected: 0 };
  readonly #options: ImportOptions;
  readonly #context: ImportContext;
  readonly #call: Call;
  readonly #turns = new AddressTurns();
  /** Where a list is to be filled. */
  readonly additions: ListAdditions | undefined;

  constructor(options: ImportOptions, context: ImportContext, call: Call) {
    this.#options = options;
    this.#context = context;
    this.#call = call;
    const { addToList } = options;
    const add = (id: string, emails: readonly string[], signal: AbortSignal | undefined) => {
      const input = { id, payload: { emails: [...emails] } };
      return this.effect.of(call(operations.lists.addContacts, input, requestOptions(options, signal)));
    };
    this.additions =
      addToList === undefined
        ? undefined
        : new ListAdditions((emails, signal) => add(addToList, emails, signal), maxAddressesPerRequest);
  }

  async work(entries: readonly Entry<GivenContact>[], signals: RunSignals): Promise<void> {
    const rows: { index: number; email: string }[] = [];
    const turns = entries.map(({ item }) => this.#turns.take(item.email));
    try {
      // One after the other within a batch; batches run side by side.
      for (const [at, entry] of entries.entries()) {
        const { index, item } = entry;
        await turns[at]?.isNext;
        if (await this.#one(entry, signals)) rows.push({ index, email: item.email });
        else this.additions?.refused(index);
        turns[at]?.pass();
      }
    } finally {
      for (const turn of turns) turn.pass();
    }
    this.additions?.take(rows);
    await this.additions?.pump(signals.requests);
  }

  async #one({ index, item }: Entry<GivenContact>, signals: RunSignals): Promise<boolean> {
    const found = this.#context.issues(item);
    const issues = found instanceof Promise ? await untilAborted(found, signals.callbacks) : found;
    if (issues.length > 0)
      return this.#reject(
        { contact: item, index, status: undefined, error: describeIssues(issues) },
        signals,
      );
    let imported: ImportedContact;
    try {
      const callOptions = requestOptions(this.#options, signals.requests);
      const { contact, result } = await this.effect.of(this.#context.upsert(this.#call, item, callOptions));
      this.counts[result] += 1;
      imported = { contact, index, result };
    } catch (error) {
      // An abort may throw any reason, also another call's error.
      signals.requests?.throwIfAborted();
      if (!isAboutTheRow(error)) throw error;
      return this.#reject({ contact: item, index, status: error.status, error: error.message }, signals);
    }
    // Outside of the catch: an error of the caller's own is no refusal of the row.
    await untilAborted(Promise.resolve(this.#options.onImported?.(imported)), signals.callbacks);
    return true;
  }

  async #reject(rejected: RejectedContact, { callbacks }: RunSignals): Promise<false> {
    this.counts.rejected += 1;
    await untilAborted(Promise.resolve(this.#options.onRejected?.(rejected)), callbacks);
    return false;
  }
}

const check = (source: unknown, options: ImportOptions): void => {
  const faults = workFaults(source, options, ["addToList", "onImported"]);
  const { addToList } = options;
  if (addToList !== undefined && (typeof addToList !== "string" || addToList === "")) {
    faults.push("addToList must be a list id");
  }
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

/** Creates or updates every contact of a source, in constant memory; a second run over the same source is harmless. */
export const importContacts = async (
  source: InputSource<GivenContact>,
  options: ImportOptions,
  context: ImportContext,
): Promise<ImportReport> => {
  check(source, options);
  const { clock } = context;
  const startedAt = clock.now();
  const waits = new WaitTracker();
  const run = new Import(options, context, waits.watch(context.call));
  const reading: Reading = { read: 0, skipped: 0 };
  const report = (): ImportReport => {
    const { created, updated, unchanged, rejected } = run.counts;
    const unknown = reading.read - reading.skipped - created - updated - unchanged - rejected;
    return { ...reading, ...run.counts, unknown, elapsedMs: clock.now() - startedAt };
  };
  try {
    await runResumable<GivenContact>(
      {
        source,
        batchSize,
        concurrency: options.concurrency ?? defaultConcurrency,
        checkpoint: options.checkpoint,
        operation,
        call: context.call,
        clock,
        effect: run.effect,
        waits,
        options,
        progress: new ProgressReporter(
          options.onProgress,
          Array.isArray(source) ? source.length : undefined,
          clock,
        ),
        work: (entries, signal) => run.work(entries, signal),
        lagging: run.additions,
      },
      reading,
    );
  } catch (error) {
    if (error instanceof TouchpointError) error.partial = { report: report() };
    throw error;
  }
  return report();
};
