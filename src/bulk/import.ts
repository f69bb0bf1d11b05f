import { inChunks } from "../batch/in-flight.ts";
import { inHalves } from "../batch/in-halves.ts";
import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import { ApiError, ConfigurationError, ConflictError, type Issue, NotFoundError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { findContact } from "../paging/matching.ts";
import { untilAborted } from "../runtime/cancellation.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { must, mustBeBoolean, mustBeOneOf, mustBeWhole, type Rules } from "../runtime/rules.ts";
import { unreadableReason } from "../runtime/source-line.ts";
import { describeIssues } from "../service/check.ts";
import { type Contact, readUpsert } from "../service/contacts.ts";
import { maxAddressesPerRequest } from "../service/lists.ts";
import { operations } from "../service/operations.ts";
import type { GivenContact } from "../workspace/contact-types.ts";
import { hasSameFields } from "./contact-fields.ts";
import { ContactLookup, type KnownContact } from "./import-lookup.ts";
import type { ImportOptions, ImportReport, PlannedRow, RejectedContact } from "./import-options.ts";
import { ProgressReporter } from "./progress.ts";
import { type Unseen, unseenHint, untilSeen } from "./search-lag.ts";
import { type Entry, type InputSource, type Reading, runSource } from "./source-run.ts";
import { Spool } from "./spool.ts";
import { type Upserted, upsertTry } from "./upsert.ts";
import { originOf, readWorkOptions, requestOptions } from "./work-options.ts";

type Row = Entry<GivenContact>;

/** The result of a row, real or planned. */
interface Settled {
  readonly result: Upserted["result"] | "skipped";
  readonly contact?: Contact | undefined;
  /** Why the row cannot become a contact. */
  readonly faults?: readonly Issue[];
}

const { create, update } = operations.contacts;
// A row for an existing contact can leave out custom fields, because the contact already has them.
const change = { ...create, isPartial: true };
// A creation may succeed with an empty response, which must not end the run.
const creation = { ...create, mayBeEmpty: true };
const operation = "contacts.import";
const defaultConcurrency = 8;
/** The number of addresses in a group. A group is processed in order, and groups in parallel. */
const addressesPerGroup = 25;
/** How long rows may wait until search shows their contacts, counted from the first such wait of the run. */
const longestLagMs = 30_000;
const never = Number.POSITIVE_INFINITY;

// These errors are about this row; any other means that the service has a problem, and ends the run.
const isAboutTheRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 404, 409, 413, 422].includes(error.status);

type Refusal = Pick<RejectedContact, "status" | "error">;

// Only a creation can conflict, because an update sends no address. Its conflict gets here only if search does not show
// the contact.
const refusalOf = (error: ApiError): Refusal => ({
  status: error.status,
  error: error instanceof ConflictError ? `${error.message} (${unseenHint})` : error.message,
});

/** Imports the rows of one run, and counts their results. */
class Import {
  readonly counts = { created: 0, updated: 0, unchanged: 0, rejected: 0, skipped: 0 };
  readonly #options: ImportOptions;
  readonly #call: Call;
  /** The options of each request. */
  readonly #callOptions: CallOptions;
  readonly plan: Spool<PlannedRow> | undefined;
  readonly lookup: ContactLookup;
  #changes = 0;
  /** When rows stop waiting for search; undefined until a row has to wait. */
  #lagEndsAt: number | undefined;
  /** The id of the list to add contacts to; undefined in a dry run. */
  readonly #listId: string | undefined;
  readonly #progress: ProgressReporter;

  constructor(options: ImportOptions, call: Call, progress: ProgressReporter) {
    const { addToList, dryRun } = options;
    const callOptions = requestOptions(options);
    [this.#options, this.#call, this.#callOptions, this.#progress] = [options, call, callOptions, progress];
    this.plan = dryRun ? new Spool() : undefined;
    this.lookup = new ContactLookup(call, callOptions);
    this.#listId = dryRun ? undefined : addToList;
  }

  /** The number of rows in a batch. The import processes one batch after the other. */
  get batchSize(): number {
    return this.#listId === undefined ? addressesPerGroup * this.#groupsAtOnce : maxAddressesPerRequest;
  }

  get #groupsAtOnce(): number {
    return this.#options.concurrency ?? defaultConcurrency;
  }

  async work(rows: readonly Row[]): Promise<void> {
    const addresses = [...this.#byAddress(rows).values()];
    /** The rows whose contact exists now. In a dry run, the rows whose contact would exist. */
    const accepted = new Set<Row>();
    await inChunks(addresses, { size: addressesPerGroup, limit: this.#groupsAtOnce }, async (group) => {
      const waiting: Row[] = [];
      for (const same of group) waiting.push(...(await this.#inOrder(same, accepted)));
      for (const row of waiting) if (await this.#untilSeen(row)) accepted.add(row);
      const records = group.flat().filter(({ item }) => unreadableReason(item) === undefined);
      this.#progress.update(this.#progress.done + records.length);
    });
    const id = this.#listId;
    if (id === undefined) return;
    const toAdd = addresses.map((same) => same.filter((row) => accepted.has(row)));
    await this.#addTo(
      id,
      toAdd.filter((same) => same.length > 0),
    );
  }

  /** The rows of each address, in order. A plan lists all rows in order, so a dry run does not separate them. */
  #byAddress(rows: readonly Row[]): Map<string, Row[]> {
    const byAddress = new Map<string, Row[]>();
    for (const row of rows) {
      // An unchecked row can be anything, even null.
      const address = this.plan === undefined ? foldAscii(String(Object(row.item).email)) : "";
      const same = byAddress.get(address);
      if (same === undefined) byAddress.set(address, [row]);
      else same.push(row);
    }
    return byAddress;
  }

  /**
   * Adds contacts to a list with one request. If the service refuses an address, the others are still added.
   *
   * @param addresses - the rows of each address.
   */
  async #addTo(id: string, addresses: readonly (readonly Row[])[]): Promise<void> {
    await inHalves(addresses, {
      signal: this.#call.signal,
      work: async (part) => {
        const emails = part.flatMap((same) => same.at(-1)?.item.email ?? []);
        const input = { id, payload: { emails } };
        if (emails.length > 0)
          await sendRequest(this.#call, operations.lists.addContacts, input, this.#callOptions);
      },
      onRefused: async (same, { status, message }) => {
        const refusal = { status, error: `not added to the list: ${message}` };
        for (const row of same) await this.#reportRejected(row, refusal);
      },
    });
  }

  /**
   * Processes the rows of one address in order.
   *
   * @returns the rows that have to wait until search shows their contact.
   */
  async #inOrder(same: readonly Row[], accepted: Set<Row>): Promise<readonly Row[]> {
    for (const [index, row] of same.entries()) {
      const done = await this.#process(row);
      if (typeof done !== "boolean") return same.slice(index);
      if (done) accepted.add(row);
    }
    return [];
  }

  /** Tries a row until search shows its contact. Rejects the row after `#lagEndsAt`. */
  async #untilSeen(row: Row): Promise<boolean> {
    this.#lagEndsAt ??= this.#call.clock.now() + longestLagMs;
    const done = await untilSeen(this.#call, () => this.#process(row), this.#lagEndsAt);
    return typeof done === "boolean" ? done : this.#reject(row, refusalOf(done.error));
  }

  /**
   * Processes one row. Returns whether its contact exists now, or would exist after a dry run; `Unseen` if search does
   * not show the contact yet, and the row can wait.
   */
  async #process(row: Row): Promise<boolean | Unseen> {
    const { item } = row;
    const wrong = unreadableReason(item) ?? describeIssues(await this.#call.issues(change, item));
    if (wrong !== "") return this.#reject(row, { status: undefined, error: wrong });
    let settled: Settled | Unseen;
    try {
      settled = await this.#settle(row);
    } catch (error) {
      // An abort reason can be any error, even that of another call.
      this.#call.signal?.throwIfAborted();
      if (!isAboutTheRow(error)) throw error;
      return this.#reject(row, refusalOf(error));
    }
    if (settled.result === "unseen") {
      // The row is not changed yet. Its next try counts the change again.
      this.#changes -= 1;
      const isTooLate = this.#call.clock.now() >= (this.#lagEndsAt ?? never);
      return isTooLate ? this.#reject(row, refusalOf(settled.error)) : settled;
    }
    const { result, faults } = settled;
    if (faults) return this.#reject(row, { status: undefined, error: describeIssues(faults) });
    this.counts[result] += 1;
    // In mode `create`, a skipped row has a contact. In mode `update`, it has none.
    return result !== "skipped" || this.#options.mode === "create";
  }

  async #settle(row: Row): Promise<Settled | Unseen> {
    const { item, index } = row;
    const match = await this.lookup.find(item);
    const planned = this.#planFor(match);
    const faults = planned.result === "create" ? await this.#call.issues(create, item) : [];
    if (faults.length > 0) return { result: "skipped", faults };
    this.plan?.add({ ...originOf(row, item), ...planned });
    if (planned.result === "skipped" || planned.result === "unchanged") return { result: planned.result };
    if (this.plan !== undefined) {
      this.lookup.apply(item);
      return { result: match ? "updated" : "created" };
    }
    this.#countChange(index);
    return this.#change(item, match);
  }

  /** Plans what to do with a row. @param match - the row's existing contact; undefined if there is none. */
  #planFor(match: KnownContact | undefined): Pick<PlannedRow, "result" | "fields" | "reason"> {
    const { mode = "upsert" } = this.#options;
    const needsList = this.plan === undefined ? mode === "update" && 'mode "update"' : "a dry run";
    if (needsList && this.lookup.method === "none")
      throw new ConfigurationError(
        `${operation}: the key may not list contacts, so ${needsList} cannot find out which contacts exist. Nothing was sent`,
      );
    if (match === undefined && mode === "update")
      return { result: "skipped", reason: "no contact has this address, and mode is update" };
    if (match === undefined) return { result: "create" };
    if (mode === "create")
      return { result: "skipped", reason: "a contact has this address, and mode is create" };
    return match.fields.length === 0 ? { result: "unchanged" } : { result: "update", fields: match.fields };
  }

  /** Sends the change of a row, and remembers the contact. */
  async #change(row: GivenContact, match: KnownContact | undefined): Promise<Settled | Unseen> {
    const settled = await this.#send(row, match);
    if (settled.result !== "unseen" && settled.contact !== undefined)
      this.lookup.add({ ...settled.contact, email: row.email });
    return settled;
  }

  /**
   * Sends the change of a row: an update of its match, a creation in mode `create`, or an upsert. If another program
   * has created or deleted the contact meanwhile, mode `upsert` continues with an upsert. The other modes skip the row.
   */
  async #send(row: GivenContact, match: KnownContact | undefined): Promise<Settled | Unseen> {
    const { mode = "upsert" } = this.#options;
    const [call, options] = [this.#call, this.#callOptions];
    try {
      const { email: _same, ...patch } = row;
      if (match !== undefined) {
        const input = { id: match.id, payload: patch };
        return { result: "updated", contact: await sendRequest(call, update, input, options) };
      }
      if (mode === "create") {
        const contact: Contact | undefined = await sendRequest(call, creation, { payload: row }, options);
        return { result: "created", contact };
      }
    } catch (error) {
      const wasCreatedOrDeleted =
        error instanceof NotFoundError || (match === undefined && error instanceof ConflictError);
      if (!wasCreatedOrDeleted) throw error;
      if (mode === "create" && (await findContact(call, row.email, options)) === null)
        return { result: "unseen", error };
      if (mode !== "upsert") return { result: "skipped" };
    }
    return call.run("contacts.upsert", options, (part, limited) =>
      upsertTry(part, { input: row, options: limited }, hasSameFields)(),
    );
  }

  #countChange(index: number): void {
    const { maxChanges = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#changes >= maxChanges)
      throw new ConfigurationError(
        `${operation}: the import stopped before row ${index}, because maxChanges allows only ${maxChanges} changes`,
      );
    this.#changes += 1;
  }

  async #reject(row: Row, refusal: Refusal): Promise<false> {
    this.counts.rejected += 1;
    this.plan?.add({ ...originOf(row, row.item), result: "refused", reason: refusal.error });
    await this.#reportRejected(row, refusal);
    return false;
  }

  async #reportRejected(row: Row, refusal: Refusal): Promise<void> {
    const rejected = { contact: row.item, ...originOf(row, row.item), ...refusal };
    await untilAborted(Promise.resolve(this.#options.onRejected?.(rejected)), this.#call.signal);
  }
}

const rules: Rules = {
  mode: mustBeOneOf("upsert", "create", "update"),
  dryRun: mustBeBoolean,
  maxChanges: mustBeWhole(0),
  addToList: must("a list id", (value) => typeof value === "string" && value !== ""),
};

/**
 * Creates or updates every contact of a source, with constant memory. You can safely run the same source again.
 */
export const importContacts = async (
  source: InputSource<GivenContact>,
  input: ImportOptions,
  parentCall: Call,
): Promise<ImportReport> => {
  const options = readWorkOptions(operation, { source, options: input }, rules);
  const { checkpoint, dryRun = false } = options;
  const total = Array.isArray(source) ? source.length : undefined;
  const progress = new ProgressReporter(options.onProgress, total, parentCall.clock);
  const call = parentCall.long(operation, { ...options, waits: progress });
  const run = new Import(options, call, progress);
  const report = ({ elapsedMs, ...reading }: Reading): ImportReport => {
    const counts = { ...run.counts, skipped: reading.skipped + run.counts.skipped };
    const settled = Object.values(counts).reduce((sum, count) => sum + count);
    return {
      ...{ ...reading, ...counts, unknown: reading.read - settled, elapsedMs },
      ...(run.plan && { plan: run.plan }),
    };
  };
  return runSource<GivenContact, ImportReport>({
    ...{ call, source, checkpoint, progress, report, isDry: dryRun },
    batchSize: () => run.batchSize,
    concurrency: 1,
    readItem: readUpsert,
    prepare: (rows, { done }) => run.lookup.rows(rows, done),
    work: (entries) => run.work(entries),
  });
};
