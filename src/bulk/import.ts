import type { CallScope } from "../call/scope.ts";
import { ApiError, ConfigurationError, ConflictError, NotFoundError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { isCallback, isOneOf, isWhole, type Rules, refuseFaults } from "../options/rules.ts";
import { findContact } from "../paging/matching.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { describeIssues } from "../service/check.ts";
import type { Contact } from "../service/contacts.ts";
import { maxAddressesPerRequest } from "../service/lists.ts";
import { operations } from "../service/operations.ts";
import type { GivenContact } from "../workspace/contact-types.ts";
import { hasSameFields } from "./contact-fields.ts";
import { ContactLookup } from "./import-lookup.ts";
import type {
  ImportContext,
  ImportedContact,
  ImportOptions,
  ImportReport,
  RejectedContact,
} from "./import-options.ts";
import { ImportPlan } from "./import-plan.ts";
import type { KnownContact } from "./known-contacts.ts";
import { ListAdditions } from "./list-additions.ts";
import { ProgressReporter } from "./progress.ts";
import { type Entry, type InputSource, type Reading, runResumable } from "./resumable.ts";
import { upsertContact } from "./upsert.ts";
import { placeOf, requestOptions, workFaults } from "./work-options.ts";

type Counts = { -readonly [K in "created" | "updated" | "unchanged" | "rejected" | "passedOver"]: number };

/** The result of a row, real or planned. */
interface Settled {
  readonly result: ImportedContact["result"] | "passedOver";
  readonly contact?: Contact | undefined;
}

const { create, update } = operations.contacts;
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

/** Imports the rows of one run, and counts their results. */
class Import {
  readonly counts: Counts = { created: 0, updated: 0, unchanged: 0, rejected: 0, passedOver: 0 };
  readonly #options: ImportOptions;
  readonly #call: CallScope;
  /** The options of each request. */
  readonly #given: CallOptions;
  /** The end of the last batch that has an address. */
  readonly #lastWith = new Map<string, Promise<unknown>>();
  readonly plan: ImportPlan | undefined;
  readonly lookup: ContactLookup;
  #changes = 0;
  /** Set if a list is to be filled. */
  readonly additions: ListAdditions | undefined;

  constructor(options: ImportOptions, call: CallScope) {
    const { addToList: id, dryRun, onImported } = options;
    const given = requestOptions(options);
    const { signal } = call;
    [this.#options, this.#call, this.#given] = [options, call, given];
    this.plan = dryRun ? new ImportPlan() : undefined;
    this.lookup = new ContactLookup(call, given, { keepsWhole: onImported !== undefined });
    if (id === undefined || dryRun) return;
    const list = {
      signal,
      add: (emails: readonly string[]) =>
        call.request(operations.lists.addContacts, { id, payload: { emails: [...emails] } }, given),
      onRefused: (row: Entry<GivenContact>, { status, message }: ApiError) =>
        this.#tellRejected(row, { status, error: `not added to the list: ${message}` }),
    };
    this.additions = new ListAdditions(list, maxAddressesPerRequest);
  }

  /** Rows with the same address are processed in the order of the source, even if their batches run in parallel. */
  async work(entries: readonly Entry<GivenContact>[]): Promise<void> {
    const addresses = entries.map(({ item }) => foldAscii(String(item.email)));
    const earlier = addresses.map((address) => this.#lastWith.get(address));
    const work = this.#inOrder(entries, earlier);
    const end = work.catch(() => undefined);
    for (const address of addresses) this.#lastWith.set(address, end);
    await work;
    for (const address of addresses) if (this.#lastWith.get(address) === end) this.#lastWith.delete(address);
  }

  /** @param earlier - for each entry, the end of the last batch before that has its address. */
  async #inOrder(
    entries: readonly Entry<GivenContact>[],
    earlier: readonly (Promise<unknown> | undefined)[],
  ): Promise<void> {
    const rows: Entry<GivenContact>[] = [];
    for (const [at, entry] of entries.entries()) {
      await earlier[at];
      if (await this.#one(entry)) rows.push(entry);
      else this.additions?.refused(entry.index);
    }
    this.additions?.take(rows);
    await this.additions?.pump();
  }

  /** Whether the row is a contact now, or would be. */
  async #one(entry: Entry<GivenContact>): Promise<boolean> {
    const { index, item } = entry;
    const found = this.#call.issues(create, item);
    const issues = found instanceof Promise ? await untilAborted(found, this.#call.signal) : found;
    if (issues.length > 0) return this.#reject(entry, { status: undefined, error: describeIssues(issues) });
    let settled: Settled;
    try {
      settled = await this.#settle(entry);
    } catch (error) {
      // An abort may throw any reason, even the error of another call.
      this.#call.signal?.throwIfAborted();
      if (!isAboutTheRow(error)) throw error;
      return this.#reject(entry, { status: error.status, error: sentenceOf(error) });
    }
    const { result, contact } = settled;
    this.counts[result] += 1;
    if (result === "passedOver") return false;
    // Outside of the catch: an error of your callback is not a refusal of the row.
    if (contact !== undefined)
      await untilAborted(
        Promise.resolve(this.#options.onImported?.({ contact, index, result })),
        this.#call.signal,
      );
    return true;
  }

  async #settle(entry: Entry<GivenContact>): Promise<Settled> {
    const { item, index } = entry;
    const place = placeOf(entry, item);
    const { mode = "upsert" } = this.#options;
    const known = await this.lookup.look(item);
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
    const settled = await this.#change(item, known);
    if (settled.contact !== undefined) this.lookup.contacts.add({ ...settled.contact, email: item.email });
    return settled;
  }

  /** Sends the change. If another program has created or removed the contact meanwhile, an upsert resolves it. */
  async #change(row: GivenContact, known: KnownContact | undefined): Promise<Settled> {
    const { mode = "upsert" } = this.#options;
    const [call, options] = [this.#call, this.#given];
    try {
      const { email: _same, ...patch } = row;
      if (known !== undefined) {
        const input = { id: known.id, payload: patch };
        return { result: "updated", contact: await call.request(update, input, options) };
      }
      if (mode === "create")
        return { result: "created", contact: await call.request(create, { payload: row }, options) };
    } catch (error) {
      const isOthers =
        error instanceof NotFoundError || (known === undefined && error instanceof ConflictError);
      if (!isOthers) throw error;
      if (mode === "create" && (await findContact(call, row.email, options)) === null) throw error;
      if (mode !== "upsert") return { result: "passedOver" };
    }
    return upsertContact(call, { input: row, options }, hasSameFields);
  }

  #countChange(index: number): void {
    const { maxChanges = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#changes >= maxChanges)
      throw new ConfigurationError(
        `${operation}: row ${index} would be change ${maxChanges + 1}, and maxChanges is ${maxChanges}; it was not sent`,
      );
    this.#changes += 1;
  }

  async #reject(row: Entry<GivenContact>, why: Why): Promise<false> {
    this.counts.rejected += 1;
    this.plan?.add({ ...placeOf(row, row.item), result: "refused", reason: why.error });
    await this.#tellRejected(row, why);
    return false;
  }

  async #tellRejected(row: Entry<GivenContact>, why: Why): Promise<void> {
    const rejected = { contact: row.item, ...placeOf(row, row.item), ...why };
    await untilAborted(Promise.resolve(this.#options.onRejected?.(rejected)), this.#call.signal);
  }
}

const rules: Rules = {
  onImported: isCallback,
  mode: isOneOf("upsert", "create", "update"),
  dryRun: [(value) => typeof value === "boolean", "true or false"],
  maxChanges: isWhole(0),
  addToList: [(value) => typeof value === "string" && value !== "", "a list id"],
};

/**
 * Creates or updates every contact of a source, with constant memory; a second run with the same source is harmless.
 */
export const importContacts = async (
  source: InputSource<GivenContact>,
  options: ImportOptions,
  context: ImportContext,
): Promise<ImportReport> => {
  refuseFaults(operation, workFaults(source, options, rules));
  const { apiKey, call: within } = context;
  const { clock } = within;
  const { checkpoint, dryRun = false } = options;
  const startedAt = clock.now();
  const total = Array.isArray(source) ? source.length : undefined;
  const progress = new ProgressReporter(options.onProgress, total, clock);
  const call = within.long(operation, { ...options, waits: progress });
  const run = new Import(options, call);
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
    ...{ call, source, checkpoint, apiKey, progress, report, isDry: dryRun, lagging: run.additions },
    batchSize: () => batchSize,
    // A plan has the rows in their order.
    concurrency: dryRun ? 1 : (options.concurrency ?? defaultConcurrency),
    prepare: (rows, done) => run.lookup.rows(rows, done),
    work: (entries) => run.work(entries),
  });
};
