import type { ImportContext, ImportOptions, ImportReport, RowResult } from "../bulk/import-options.ts";
import type { InputSource } from "../bulk/resumable.ts";
import { hasSameFields } from "../bulk/same-fields.ts";
import type { ApiPromise } from "../call/api-promise.ts";
import { type Call, throwIfInvalid, withOperation } from "../call/executor.ts";
import type { CallGroup } from "../call/request.ts";
import { ConflictError, isTouchpointError, NotFoundError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { type Paged, type PagingOptions, paged } from "../paging/paged.ts";
import type { Clock } from "../runtime/clock.ts";
import { snapshot } from "../runtime/values.ts";
import { issuesOf } from "../service/check.ts";
import type { Page } from "../service/common.ts";
import { type Contact, type ContactQuery, FindQuery } from "../service/contacts.ts";
import type { Operation } from "../service/define.ts";
import { operations } from "../service/operations.ts";
import type {
  ContactInputOf,
  ContactOf,
  ContactPatchOf,
  GivenContact,
  OpenFields,
} from "../workspace/contact-types.ts";

/** What an upsert did. */
export interface UpsertResult<C extends Contact = Contact> {
  /** As the service has it now. */
  readonly contact: C;
  /** `false`: there was a contact with this email; it was updated, if more than the email was given. */
  readonly created: boolean;
}

const upsertRounds = 3;

// Within an upsert a second creation does no harm: an address is unique, and its clash becomes the update.
const repeatable = <Input, Output>(create: Operation<Input, Output>): Operation<Input, Output> => ({
  ...create,
  replay: "idempotent",
});

// Where no repeat has cleared it up, whether the creation happened can still be looked up.
const isUnclear = (error: unknown): boolean => isTouchpointError(error) && error.outcome === "unknown";

const sameAddress = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The operations as a workspace types them. */
interface TypedOperations<Fields> {
  readonly create: Operation<ContactInputOf<Fields>, ContactOf<Fields>>;
  readonly list: Operation<ContactQuery, Page<ContactOf<Fields>>>;
  readonly update: Operation<ContactPatchOf<Fields>, ContactOf<Fields>>;
}

// The call checks the workspace's schema beside the operation's own, so its types hold as well. No field of the class:
// a typed client could not be given where any client will do.
const typed = <Fields>() => operations.contacts as unknown as TypedOperations<Fields>;

/** People. Reached as `client.contacts`; `Fields` are the workspace's custom fields, where a schema tells them. */
export class Contacts<Fields extends object = OpenFields> {
  readonly #call: Call;
  readonly #clock: Clock;

  constructor(call: Call, clock: Clock) {
    this.#call = call;
    this.#clock = clock;
  }

  /**
   * Creates a contact. Not repeated when the answer is lost, since a repeat may clash with the first; `upsert` may be.
   *
   * @throws ConflictError when the email belongs to a contact already.
   * @throws BadRequestError for an unknown custom field or a value of the wrong kind.
   *
   * Source: service document, Contacts, POST /api/v1/contacts.
   */
  create(input: ContactInputOf<Fields>, options?: CallOptions): ApiPromise<ContactOf<Fields>> {
    return this.#call(typed<Fields>().create, { payload: input }, options);
  }

  /**
   * Lists contacts, one page in memory at a time.
   *
   * @param query - `search` matches for example an email; `limit` is contacts per page; `skip` leaves out so many.
   * @returns await it for one page, iterate it for every contact; `break` asks for no further page.
   * @throws RateLimitError when the service asks for a wait longer than `maxRetryAfterMs`.
   *
   * Source: service document, Contacts and Limits. The order of contacts is not documented.
   */
  list(query: ContactQuery = {}, options: CallOptions & PagingOptions = {}): Paged<ContactOf<Fields>> {
    return paged(this.#call, typed<Fields>().list, query, options);
  }

  /**
   * Finds the contact with an address, in any case of letters; `null` when there is none.
   *
   * @throws ValidationError for what is no address; nothing was sent.
   *
   * Source: service document, Contacts, `search`. A search may match more than the address; only the address counts.
   */
  find(email: string, options?: CallOptions): ApiPromise<ContactOf<Fields> | null> {
    const call = this.#call.scope();
    const search = async (): Promise<ContactOf<Fields> | null> => {
      throwIfInvalid("contacts.find", issuesOf(FindQuery, { email }));
      return call.group("contacts.find", options, (part) => this.#find(part, email, options));
    };
    return call.answer(search());
  }

  async #find(
    call: Call,
    email: string,
    options: CallOptions | undefined,
  ): Promise<ContactOf<Fields> | null> {
    const found = paged(call, typed<Fields>().list, { search: email }, options ?? {}, {});
    for await (const contact of found) {
      // A record may be anything, where the answer's check only warns.
      if (typeof contact?.email === "string" && sameAddress(contact.email, email)) return contact;
    }
    return null;
  }

  /**
   * Changes the fields sent and no others. `listIds` replaces all lists of the contact; in `customFields` only the
   * keys sent change, and `null` clears one.
   *
   * @throws BadRequestError for an unknown custom field or an invalid value.
   * @throws NotFoundError when the workspace has no contact with the id.
   * @throws ConflictError when another contact has the new email.
   *
   * Source: service document, Contacts, PATCH rules 1–6.
   */
  update(id: string, patch: ContactPatchOf<Fields>, options?: CallOptions): ApiPromise<ContactOf<Fields>> {
    return this.#call(typed<Fields>().update, { id, payload: patch }, options);
  }

  /**
   * Creates the contact, or updates the one that has the email.
   *
   * Safe to call again whatever happened to an earlier call; `totalTimeoutMs` bounds all of its requests. A creation
   * whose answer was lost is made again, up to `maxRetries` times, and then looked up: an address is unique, so a
   * second one only clashes and becomes the update (`created` is then `false`). Others may create or delete it too.
   *
   * @throws ConflictError when the service keeps reporting a clash but finds no contact with the email.
   */
  upsert(input: ContactInputOf<Fields>, options?: CallOptions): ApiPromise<UpsertResult<ContactOf<Fields>>> {
    const call = this.#call.scope();
    const run = async (): Promise<UpsertResult<ContactOf<Fields>>> => {
      try {
        const how = { call, options, isSame: () => false };
        const { contact, result } = await this.#upsert(snapshot(input), how);
        return { contact, created: result === "created" };
      } catch (error) {
        throw withOperation("contacts.upsert", error);
      }
    };
    return call.answer(run());
  }

  /**
   * Creates or updates every contact of an array, a generator or a stream, in constant memory.
   *
   * With a `checkpoint` the run can be killed at any instant and started again over the same source: nobody is left
   * out. Only what creates or changes a contact is sent: the list is read once, or, where that takes fewer requests, each
   * row is looked up. `dryRun` sends no change and tells what would become of each row. `addToList` adds 1,000 contacts at a time and the rest at the end.
   *
   * @throws ConfigurationError when the checkpoint is damaged, cannot be written, or belongs to another input.
   * @throws TouchpointError when the service stays out of reach; `partial.report` has the counts so far.
   * @throws TimeoutError, with the same `partial`, when the run takes longer than its own `totalTimeoutMs`.
   */
  import(source: InputSource<ContactInputOf<Fields>>, options: ImportOptions = {}): ApiPromise<ImportReport> {
    const call = this.#call.scope();
    const run = async (): Promise<ImportReport> => {
      // Files and hashes load with the first import, not with the package.
      const { importContacts } = await import("../bulk/import.ts");
      // The import itself knows a row's fields, and leaves its custom fields to the call's check.
      return importContacts(source as InputSource<GivenContact>, options ?? {}, {
        clock: this.#clock,
        call,
        issues: (input) => this.#call.issues(operations.contacts.create, input),
        ...this.#importing(),
      });
    };
    return call.answer(run());
  }

  /** What an import sends; its rows are of this method's source. */
  #importing(): Pick<ImportContext, "upsert" | "create" | "update" | "find" | "pages"> {
    const given = (row: GivenContact) => row as ContactInputOf<Fields>;
    const { create, update, list } = typed<Fields>();
    return {
      upsert: (call, row, options) => this.#upsert(given(row), { call, options, isSame: hasSameFields }),
      create: (call, row, options) => call(create, { payload: given(row) }, options),
      update: (call, id, { email: _same, ...patch }, options) =>
        // What creates a contact changes one as well.
        call(update, { id, payload: patch as unknown as ContactPatchOf<Fields> }, options),
      find: (call, email, options) => this.#find(call, email, options),
      pages: (call, options, cursor) =>
        paged(call, list, {}, { ...options, cursor, ...(cursor === undefined && { prefetch: 0 }) }).pages(),
    };
  }

  #upsert(
    input: ContactInputOf<Fields>,
    {
      call: through,
      options,
      isSame,
    }: {
      readonly call: Call;
      readonly options: CallOptions | undefined;
      readonly isSame: typeof hasSameFields;
    },
  ): Promise<RowResult<ContactOf<Fields>>> {
    return through.group("contacts.upsert", options, async (call, whole) => {
      for (let round = 1; ; round += 1) {
        try {
          const contact = await call(repeatable(typed<Fields>().create), { payload: input }, options);
          return { contact, result: "created" };
        } catch (error) {
          const isNewlyUnclear = isUnclear(error) && !whole.isUnclear;
          whole.isUnclear ||= isNewlyUnclear;
          const canBeLookedUp = isNewlyUnclear && !whole.signal?.aborted;
          if (!(error instanceof ConflictError) && !canBeLookedUp) throw error;
          const known = await this.#find(call, input.email, options);
          if (known === null && (round === upsertRounds || !(error instanceof ConflictError))) throw error;
          const how = { call, whole, options, isSame, isLast: round === upsertRounds };
          const settled = known && (await this.#bring(input, known, how));
          if (settled) return settled;
        }
      }
    });
  }

  /** Updates a known contact; undefined when it is gone by now, and may be created again. */
  async #bring(
    { email: _same, ...patch }: ContactInputOf<Fields>,
    known: ContactOf<Fields>,
    how: {
      readonly call: Call;
      readonly whole: CallGroup;
      readonly options: CallOptions | undefined;
      readonly isSame: typeof hasSameFields;
      readonly isLast: boolean;
    },
  ): Promise<RowResult<ContactOf<Fields>> | undefined> {
    const isEmpty = Object.values(patch).every((value) => value === undefined);
    if (isEmpty || how.isSame(patch, known)) return { contact: known, result: "unchanged" };
    // What creates a contact changes one as well.
    const payload = patch as unknown as ContactPatchOf<Fields>;
    try {
      const contact = await how.call(typed<Fields>().update, { id: known.id, payload }, how.options);
      return { contact, result: "updated" };
    } catch (error) {
      how.whole.isUnclear ||= isUnclear(error);
      if (error instanceof NotFoundError && !how.isLast) return undefined;
      throw error;
    }
  }
}
