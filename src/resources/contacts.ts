import type { ChangesOptions, ContactChange, ContactChanges } from "../bulk/changes-options.ts";
import type { ImportOptions, ImportReport } from "../bulk/import-options.ts";
import type { InputSource } from "../bulk/source-run.ts";
import { upsertContact } from "../bulk/upsert.ts";
import type { ApiPromise } from "../call/api-promise.ts";
import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import { throwIfInvalid, withOperation } from "../call/request.ts";
import type { CallOptions } from "../options/options.ts";
import { findContact } from "../paging/matching.ts";
import { type Paged, type PagingOptions, paged } from "../paging/paged.ts";
import { bindMethods } from "../runtime/bound-methods.ts";
import { issuesOf } from "../service/check.ts";
import {
  type Contact,
  type ContactInput,
  type ContactPatch,
  type ContactQuery,
  FindQuery,
  readUpsert,
} from "../service/contacts.ts";
import { operations } from "../service/operations.ts";
import type {
  ContactInputOf,
  ContactOf,
  ContactPatchOf,
  ContactUpsertOf,
  GivenContact,
  OpenFields,
} from "../workspace/contact-types.ts";

/** The result of an upsert. */
export interface UpsertResult<C extends Contact = Contact> {
  /** The contact as the service has it now. */
  readonly contact: C;
  /** `false`: a contact with this email existed. It was updated, if you gave more than the email. */
  readonly created: boolean;
}

// The call checks inputs and responses against the workspace's schema, so the casts to the types of a workspace are safe.
const { create, list, update } = operations.contacts;

/** Contacts. Use it as `client.contacts`. `Fields` are the workspace's custom fields, if a schema types them. */
export class Contacts<Fields extends object = OpenFields> {
  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    this.#call = call;
    bindMethods(this);
  }

  /**
   * Creates a contact.
   *
   * After a lost response the call is not retried, because a second attempt could conflict with the first. Use `upsert` for
   * a contact that may exist.
   *
   * @throws ConflictError when a contact with the email exists.
   * @throws BadRequestError for an unknown custom field or a value of the wrong kind.
   * @example
   * ```ts
   * const contact = await client.contacts.create({ email: "ada@example.com", customFields: { plan: "pro" } });
   * console.log(contact.id);
   * ```
   * Scope: `contacts:write`. Source: service document, Contacts, POST /api/v1/contacts.
   */
  create(input: ContactInputOf<Fields>, options?: CallOptions): ApiPromise<ContactOf<Fields>> {
    const payload = input as ContactInput;
    return sendRequest(this.#call, create, { payload }, options) as ApiPromise<ContactOf<Fields>>;
  }

  /**
   * Lists contacts, with one page in memory at a time.
   *
   * Every contact that exists throughout an iteration is yielded exactly once, even if others are added or deleted
   * meanwhile. This needs a stable order of contacts, which is not documented.
   *
   * @param query - `search` matches an email, for example; `limit` is the contacts per page, 1–200; `skip` leaves out the
   * first contacts.
   * @returns await it for one page, iterate it for every contact. After `break`, no further page is requested.
   * @throws RateLimitError when the service requires a wait longer than `maxRetryAfterMs`.
   * @example
   * ```ts
   * const page = await client.contacts.list({ search: "ada", limit: 50 });
   * console.log(page.total);
   * for await (const contact of client.contacts.list()) console.log(contact.email);
   * ```
   * Scope: none documented, as for every read. Source: service document, Contacts and Limits.
   */
  list(query: ContactQuery = {}, options: CallOptions & PagingOptions = {}): Paged<ContactOf<Fields>> {
    return paged(this.#call, list, query, options) as Paged<ContactOf<Fields>>;
  }

  /**
   * Finds the contact with an email address. Upper and lower case of ASCII letters do not matter; every other letter does.
   *
   * A search of the service may match more than the address; this method returns only the exact address.
   *
   * @returns the contact, or `null` if there is none.
   * @throws ValidationError when `email` is not an address; nothing was sent.
   * @example
   * ```ts
   * const contact = await client.contacts.find("Ada@Example.com");
   * console.log(contact?.name ?? "no such contact");
   * ```
   * Scope: none documented, as for every read. Source: service document, Contacts, `search`.
   */
  find(email: string, options?: CallOptions): ApiPromise<ContactOf<Fields> | null> {
    const call = this.#call.open("contacts.find");
    const search = call.run("contacts.find", options, async (part, options) => {
      throwIfInvalid("contacts.find", issuesOf(FindQuery, { email }));
      // The call checks the contact by the workspace's schema.
      return findContact(part, email, options) as Promise<ContactOf<Fields> | null>;
    });
    return call.answer(search);
  }

  /**
   * Changes the given fields of a contact.
   *
   * `listIds` replaces all lists of the contact; use `lists.addContacts` to add it to one. `customFields` changes only the
   * given keys, and `null` clears a key.
   *
   * @returns the contact; only its `id` if the response has no contact. Such a response is reported like any invalid one.
   * @throws BadRequestError for an unknown custom field or an invalid value.
   * @throws NotFoundError when the workspace has no contact with the id.
   * @throws ConflictError when another contact has the new email.
   * @example
   * ```ts
   * await client.contacts.update("contact-1", { stage: "CONVERTED", customFields: { plan: null } });
   * ```
   * Scope: `contacts:write`. Source: service document, Contacts, PATCH rules 1–6.
   */
  update(id: string, patch: ContactPatchOf<Fields>, options?: CallOptions): ApiPromise<ContactOf<Fields>> {
    const payload = patch as ContactPatch;
    return sendRequest(this.#call, update, { id, payload }, options) as ApiPromise<ContactOf<Fields>>;
  }

  /**
   * Creates the contact, or updates the existing contact with the email.
   *
   * You can also pass a contact that you have read: a field that is `null` stays unchanged, and `id`, `externalId`, `listIds`
   * and the times are not sent. Custom fields change key by key, and `null` clears a key.
   *
   * You can always call it again safely. After a lost response, the creation is retried up to `maxRetries` times, and then
   * the contact is looked up. Addresses are unique, so a second creation only conflicts, and the method updates the contact
   * (`created` is then `false`). `totalTimeoutMs` limits all requests of the call together.
   *
   * Search may not show a new contact yet. After a conflict, the method therefore searches for up to 10 s, but ends before
   * `totalTimeoutMs`.
   *
   * @throws ConflictError when the service reports a conflict, and search does not show the contact in that time.
   * @example
   * ```ts
   * const { contact, created } = await client.contacts.upsert({ email: "ada@example.com", name: "Ada Lovelace" });
   * console.log(created ? "created" : "updated", contact.id);
   * ```
   * Scope: `contacts:write`. Source: service document, Contacts, POST, GET and PATCH.
   */
  upsert(input: ContactUpsertOf<Fields>, options?: CallOptions): ApiPromise<UpsertResult<ContactOf<Fields>>> {
    const call = this.#call.open("contacts.upsert");
    const run = async (): Promise<UpsertResult<ContactOf<Fields>>> => {
      try {
        const payload = readUpsert(input) as unknown as GivenContact; // The call checks the remaining fields.
        const { contact, result } = await upsertContact(call, { input: payload, options });
        return { contact: contact as ContactOf<Fields>, created: result === "created" };
      } catch (error) {
        throw withOperation("contacts.upsert", error);
      }
    };
    return call.answer(run());
  }

  /**
   * Creates or updates every contact of an array, a generator or a stream of any length.
   *
   * The import reads the list of contacts once (about 250 bytes of memory per contact), or looks up each row if that takes
   * fewer requests. It sends only what creates or changes a contact. With a `checkpoint` you can kill the run at any time and
   * start it again with the same source. `dryRun` sends no change; the report then has a `plan` for each row. `addToList`
   * adds the contacts to a list, 1,000 per request. Search may not show a new contact yet. A row that conflicts with such a
   * contact waits for it, all these rows together up to 30 s, while other rows continue.
   *
   * @throws ConfigurationError when the checkpoint is damaged, cannot be written, or belongs to another input.
   * @throws TouchpointError when the service stays unavailable; `partial.report` has the counts so far.
   * @throws TimeoutError, with the same `partial`, when the run takes longer than its own `totalTimeoutMs`.
   * @example
   * ```ts
   * import { readContacts } from "touchpoint-sdk/files";
   *
   * const report = await client.contacts.import(readContacts("contacts.csv"), {
   *   checkpoint: "import.checkpoint.json",
   *   onRejected: ({ line, error }) => console.error(`line ${line}: ${error}`),
   * });
   * console.log(report.created, report.updated, report.unchanged);
   * ```
   * Scope: `contacts:write`; with `addToList` also `lists:write`. Source: service document, Contacts, and Lists, POST.
   */
  import(
    source: InputSource<ContactUpsertOf<Fields>>,
    options: ImportOptions = {},
  ): ApiPromise<ImportReport> {
    // The import checks the fields of a row, and the call checks its custom fields.
    const rows = source as InputSource<GivenContact>;
    const call = this.#call.open("contacts.import");
    // Files and hashes load with the first import, not with the package.
    const loaded = import("../bulk/import.ts");
    return call.answer(loaded.then(({ importContacts }) => importContacts(rows, options ?? {}, call)));
  }

  /**
   * Finds the contacts that were added, changed or removed since a snapshot, in one pass over the list. The first run yields
   * all contacts as added, and creates the snapshot. A snapshot has ids and hashes, never values.
   *
   * Progress is saved after every page of 200 contacts, when you request the change that follows the page. If a run is
   * killed or left by `break`, the next run continues after the last saved page, and yields the changes of the
   * unfinished page again. `removed` comes last. A different order of `listIds` is not a change.
   *
   * @throws ConfigurationError when the snapshot is damaged, belongs to another workspace or query, or was written by a newer
   * version. Nothing was yielded, and the snapshot is unchanged.
   * @example
   * ```ts
   * for await (const change of client.contacts.changes({ snapshot: "contacts.snapshot" })) {
   *   if (change.kind === "removed") console.log("removed", change.id);
   *   else console.log(change.kind, change.contact.email);
   * }
   * ```
   * Scope: none documented, as for every read. Source: service document, Contacts. The service has no query for changes; this reads 200 contacts per request.
   */
  changes(options: ChangesOptions): ContactChanges<ContactOf<Fields>> {
    const call = this.#call;
    const begin = async () => {
      // Loaded on first use, like the import.
      const { changedContacts, readChangesOptions } = await import("../bulk/changes.ts");
      const read = readChangesOptions(options);
      // The call checks the contacts by the workspace's schema.
      const pages = changedContacts(read, call) as AsyncGenerator<
        readonly ContactChange<ContactOf<Fields>>[]
      >;
      return { pages, signal: read.signal };
    };
    return {
      async *pages() {
        yield* (await begin()).pages;
      },
      async *[Symbol.asyncIterator]() {
        const { pages, signal } = await begin();
        for await (const page of pages)
          for (const change of page) {
            signal?.throwIfAborted();
            yield change;
          }
      },
    };
  }
}
