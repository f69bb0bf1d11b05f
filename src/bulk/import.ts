import type { CallScope } from "../call/scope.ts";
import { ApiError, ConfigurationError, ConflictError, NotFoundError, ValidationError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import { describeIssues } from "../service/check.ts";
import type { Contact } from "../service/contacts.ts";
import { maxAddressesPerRequest } from "../service/lists.ts";
import { operations } from "../service/operations.ts";
import type { GivenContact } from "../workspace/contact-types.ts";
import { AddressTurns } from "./address-turns.ts";
import { hasSameFields } from "./contact-fields.ts";
import { ContactLookup } from "./import-lookup.ts";
import type {
  ImportContext,
  ImportedContact,
  ImportOptions,
  ImportReport,
  RejectedContact,
} from "./import-options.ts";
import { ImportPlan, type PlannedRow } from "./import-plan.ts";
import { requestOptions } from "./ingest-options.ts";
import type { KnownContact } from "./known-contacts.ts";
import { ListAdditions } from "./list-additions.ts";
import { ProgressReporter } from "./progress.ts";
import { type Entry, type InputSource, type Reading, type RunSignals, runResumable } from "./resumable.ts";
import { WaitTracker } from "./waits.ts";
import { workFaults } from "./work-faults.ts";

type Counts = { -readonly [K in "created" | "updated" | "unchanged" | "rejected" | "passedOver"]: number };

/** The result of a row, real or planned. */
interface Settled {
  readonly result: ImportedContact["result"] | "passedOver";
  readonly contact?: Contact | undefined;
}

const operation = "contacts.import";
const defaultConcurrency = 8;
const batchSize = 25;

// These errors are about this row; any other means that the service has a problem, and ends the run.
const isAboutTheRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 404, 409, 413, 422].includes(error.status);

// A conflict remains only where no contact was found: the service takes another address for the same.
const sentenceOf = (error: ApiError): string =>
  error instanceof ConflictError
    ? `${error.message} (but no contact has this address; only ASCII letters are equal in upper and lower case)`
    : error.message;

type Why = Pick<RejectedContact, "status" | "error">;

/** How a row is named everywhere. */
const placeOf = ({
  item,
  index,
  line,
}: Entry<GivenContact>): Pick<PlannedRow, "index" | "line" | "email"> => {
  const { email }: { email?: unknown } = Object(item);
  return { index, ...(line !== undefined && { line }), ...(typeof email === "string" && { email }) };
};

/** Imports the rows of one run, and counts their results. */
class Import {
  readonly counts: Counts = { created: 0, updated: 0, unchanged: 0, rejected: 0, passedOver: 0 };
  readonly #options: ImportOptions;
  readonly #context: ImportContext;
  readonly #call: CallScope;
  readonly #turns = new AddressTurns();
  readonly plan: ImportPlan | undefined;
  readonly lookup: ContactLookup;
  #changes = 0;
  /** Set if a list is to be filled. */
  readonly additions: ListAdditions | undefined;

  constructor(options: ImportOptions, context: ImportContext, call: CallScope) {
    this.#options = options;
    this.#context = context;
    this.#call = call;
    const { addToList } = options;
    const add = (id: string, emails: readonly string[], signal: AbortSignal | undefined) => {
      const input = { id, payload: { emails: [...emails] } };
      return call.request(operations.lists.addContacts, input, requestOptions(options, signal));
    };
    this.plan = options.dryRun ? new ImportPlan() : undefined;
    const given = (signal: AbortSignal | undefined) => requestOptions(options, signal);
    this.lookup = new ContactLookup(
      {
        pages: (signal, cursor) => context.pages(call, given(signal), cursor),
        find: (email, signal) => context.find(call, email, given(signal)),
      },
      options.onImported !== undefined,
    );
    this.additions =
      addToList === undefined || options.dryRun
        ? undefined
        : new ListAdditions(
            {
              add: (emails, signal) => add(addToList, emails, signal),
              onRefused: (row, { status, message }, signals) =>
                this.#tellRejected(row, { status, error: `not added to the list: ${message}` }, signals),
            },
            maxAddressesPerRequest,
          );
  }

  async work(entries: readonly Entry<GivenContact>[], signals: RunSignals): Promise<void> {
    const rows: Entry<GivenContact>[] = [];
    const turns = entries.map(({ item }) => this.#turns.take(item.email));
    try {
      // Sequentially within a batch; batches run in parallel.
      for (const [at, entry] of entries.entries()) {
        await turns[at]?.isNext;
        if (await this.#one(entry, signals)) rows.push(entry);
        else this.additions?.refused(entry.index);
        turns[at]?.pass();
      }
    } finally {
      for (const turn of turns) turn.pass();
    }
    this.additions?.take(rows);
    await this.additions?.pump(signals);
  }

  /** Whether the row is a contact now, or would be. */
  async #one(entry: Entry<GivenContact>, signals: RunSignals): Promise<boolean> {
    const { index, item } = entry;
    const found = this.#context.issues(item);
    const issues = found instanceof Promise ? await untilAborted(found, signals.callbacks) : found;
    if (issues.length > 0)
      return this.#reject(entry, { status: undefined, error: describeIssues(issues) }, signals);
    let settled: Settled;
    try {
      settled = await this.#settle(entry, signals.requests);
    } catch (error) {
      // An abort may throw any reason, even the error of another call.
      signals.requests?.throwIfAborted();
      if (!isAboutTheRow(error)) throw error;
      return this.#reject(entry, { status: error.status, error: sentenceOf(error) }, signals);
    }
    const { result, contact } = settled;
    this.counts[result] += 1;
    if (result === "passedOver") return false;
    // Outside of the catch: an error of your callback is not a refusal of the row.
    if (contact !== undefined)
      await untilAborted(
        Promise.resolve(this.#options.onImported?.({ contact, index, result })),
        signals.callbacks,
      );
    return true;
  }

  async #settle(entry: Entry<GivenContact>, signal: AbortSignal | undefined): Promise<Settled> {
    const { item, index } = entry;
    const place = placeOf(entry);
    const { mode = "upsert" } = this.#options;
    const known = await this.lookup.look(item, signal);
    const passOver = (reason: string): Settled => {
      this.plan?.add({ ...place, result: "skipped", reason });
      return { result: "passedOver" };
    };
    const needsList = this.plan === undefined ? mode === "update" && 'mode "update"' : "a dry run";
    if (needsList && this.lookup.way?.by === "none")
      throw new ConfigurationError(
        `${operation}: the key may not list contacts, so ${needsList} cannot tell which there are; nothing was sent`,
      );
    if (known === undefined && mode === "update")
      return passOver("no contact has this address, and mode is update");
    if (known !== undefined && mode === "create")
      return passOver("a contact has this address, and mode is create");
    if (known !== undefined && known.fields.length === 0) {
      this.plan?.add({ ...place, result: "unchanged" });
      return { result: "unchanged", contact: this.lookup.contacts.whole(item.email) };
    }
    if (this.plan !== undefined) {
      this.plan.add(
        known ? { ...place, result: "update", fields: known.fields } : { ...place, result: "create" },
      );
      this.lookup.contacts.apply(item);
      return { result: known ? "updated" : "created" };
    }
    this.#countChange(index);
    const settled = await this.#change(item, known, requestOptions(this.#options, signal));
    if (settled.contact !== undefined) this.lookup.contacts.add({ ...settled.contact, email: item.email });
    return settled;
  }

  /** Sends the change. If another program has created or removed the contact meanwhile, an upsert resolves it. */
  async #change(row: GivenContact, known: KnownContact | undefined, options: CallOptions): Promise<Settled> {
    const { mode = "upsert" } = this.#options;
    const [context, call] = [this.#context, this.#call];
    try {
      if (known !== undefined)
        return { result: "updated", contact: await context.update(call, known.id, row, options) };
      if (mode === "create") return { result: "created", contact: await context.create(call, row, options) };
    } catch (error) {
      const isOthers =
        error instanceof NotFoundError || (known === undefined && error instanceof ConflictError);
      if (!isOthers) throw error;
      if (mode === "create" && (await context.find(call, row.email, options)) === null) throw error;
      if (mode !== "upsert") return { result: "passedOver" };
    }
    return context.upsert(call, row, options, hasSameFields);
  }

  #countChange(index: number): void {
    const { maxChanges = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#changes >= maxChanges)
      throw new ConfigurationError(
        `${operation}: row ${index} would be change ${maxChanges + 1}, and maxChanges is ${maxChanges}; it was not sent`,
      );
    this.#changes += 1;
  }

  async #reject(row: Entry<GivenContact>, why: Why, signals: RunSignals): Promise<false> {
    this.counts.rejected += 1;
    this.plan?.add({ ...placeOf(row), result: "refused", reason: why.error });
    await this.#tellRejected(row, why, signals);
    return false;
  }

  async #tellRejected(row: Entry<GivenContact>, why: Why, { callbacks }: RunSignals): Promise<void> {
    const rejected = { contact: row.item, ...placeOf(row), ...why };
    await untilAborted(Promise.resolve(this.#options.onRejected?.(rejected)), callbacks);
  }
}

const check = (source: unknown, options: ImportOptions): void => {
  const faults = workFaults(source, options, ["addToList", "onImported", "mode", "dryRun", "maxChanges"]);
  const { addToList, mode, dryRun, maxChanges } = options;
  if (mode !== undefined && !["upsert", "create", "update"].includes(mode))
    faults.push("mode must be upsert, create or update");
  if (dryRun !== undefined && typeof dryRun !== "boolean") faults.push("dryRun must be true or false");
  if (maxChanges !== undefined && !(Number.isSafeInteger(maxChanges) && maxChanges >= 0))
    faults.push("maxChanges must be a whole number of at least 0");
  if (addToList !== undefined && (typeof addToList !== "string" || addToList === "")) {
    faults.push("addToList must be a list id");
  }
  if (faults.length > 0) throw new ValidationError(`${operation}: ${faults.join("; ")}`, { operation });
};

/**
 * Creates or updates every contact of a source, with constant memory; a second run with the same source is harmless.
 */
export const importContacts = async (
  source: InputSource<GivenContact>,
  options: ImportOptions,
  context: ImportContext,
): Promise<ImportReport> => {
  check(source, options);
  const { clock } = context;
  const startedAt = clock.now();
  const waits = new WaitTracker();
  const call = context.call.long(operation, { ...options, waits });
  const run = new Import(options, context, call);
  const report = (reading: Reading): ImportReport => {
    const { passedOver, ...counts } = run.counts;
    const skipped = reading.skipped + passedOver;
    const settled = skipped + counts.created + counts.updated + counts.unchanged + counts.rejected;
    return {
      ...{ read: reading.read, skipped, ...counts, unknown: reading.read - settled },
      elapsedMs: clock.now() - startedAt,
      ...(run.lookup.way && { lookup: run.lookup.way }),
      ...(run.plan && { plan: run.plan }),
    };
  };
  return runResumable<GivenContact, ImportReport>({
    source,
    batchSize: () => batchSize,
    // A plan has the rows in their order.
    concurrency: options.dryRun ? 1 : (options.concurrency ?? defaultConcurrency),
    checkpoint: options.checkpoint,
    apiKey: context.apiKey,
    isDry: options.dryRun === true,
    prepare: (rows, done, signals) => run.lookup.rows(rows, done, signals),
    operation,
    call,
    clock,
    waits,
    options,
    progress: new ProgressReporter(
      options.onProgress,
      Array.isArray(source) ? source.length : undefined,
      clock,
    ),
    work: (entries, signal) => run.work(entries, signal),
    lagging: run.additions,
    report,
  });
};
