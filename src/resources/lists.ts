import {
  type Addresses,
  changeMembers,
  type MembersChange,
  type MembersReport,
} from "../batch/change-members.ts";
import type { ApiPromise } from "../call/api-promise.ts";
import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import type { CallOptions } from "../options/options.ts";
import { contactsWith } from "../paging/matching.ts";
import type { PagingOptions } from "../paging/paged.ts";
import { bindMethods } from "../runtime/bound-methods.ts";
import type { Contact } from "../service/contacts.ts";
import type { List, ListInput } from "../service/lists.ts";
import { operations } from "../service/operations.ts";

/** Lists: named groups of contacts. Use it as `client.lists`. */
export class Lists {
  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    this.#call = call;
    bindMethods(this);
  }

  /**
   * Creates a list. After a lost response the call is not retried, because a second attempt could conflict with the first.
   *
   * Inferred, because the document gives no method and no path: `POST /api/v1/lists`, which returns the list with its `id` and
   * `name`. The option `routes` corrects method and path.
   *
   * @throws ConflictError when a list with the name exists.
   * @example
   * ```ts
   * const list = await client.lists.create({ name: "Engineers" });
   * ```
   * Scope: `lists:write`. Source: service document, List, and Lists, "Create-list".
   */
  create(input: ListInput, options?: CallOptions): ApiPromise<List> {
    return sendRequest(this.#call, operations.lists.create, { payload: input }, options);
  }

  /**
   * Adds contacts to a list. Their other lists stay the same. An address without a contact becomes a new contact.
   *
   * @param emails - any number of addresses, from an array or any (async) iterable; 1,000 are sent per request. A repeated
   * address is sent once. Without addresses, nothing is sent.
   * @param options - `totalTimeoutMs` limits all requests together, including the wait for a stream.
   * @throws ValidationError naming each value that is not an address, for example `emails[3]`. Nothing was sent, because
   * a stream is read to its end first.
   * @throws NotFoundError when the workspace has no list with the id.
   * @throws TouchpointError when one of several requests failed. `partial.done` has the addresses of the requests that
   * succeeded. `partial.left` has all other addresses, and you can safely send them again.
   * @example
   * ```ts
   * const { requested, calls } = await client.lists.addContacts("list-1", ["ada@example.com", "grace@example.com"]);
   * ```
   * Scopes: `lists:write` and `contacts:write`. Source: service document, Lists, POST, and Limits.
   */
  addContacts(id: string, emails: Addresses, options: CallOptions = {}): ApiPromise<MembersReport> {
    return this.#change(operations.lists.addContacts, { id, emails, options });
  }

  /**
   * Removes contacts from a list. They stay contacts of the workspace.
   *
   * @param emails - as for `addContacts`.
   * @throws the same as `addContacts`.
   * @example
   * ```ts
   * await client.lists.removeContacts("list-1", ["grace@example.com"]);
   * ```
   * Scopes: `lists:write` and `contacts:write`. Source: service document, Lists, DELETE, and Limits.
   */
  removeContacts(id: string, emails: Addresses, options: CallOptions = {}): ApiPromise<MembersReport> {
    return this.#change(operations.lists.removeContacts, { id, emails, options });
  }

  /**
   * Iterates the contacts of a list. The service has no such query, so this method reads the complete list of contacts, 200
   * per request, and yields those whose `listIds` has the id. 100,000 contacts take 500 requests, about 50 seconds.
   *
   * @param options - as for `contacts.list`.
   * @example
   * ```ts
   * for await (const contact of client.lists.members("list-1")) console.log(contact.email);
   * ```
   * Scope: none documented, as for every read. Source: service document, Contact, `listIds`.
   */
  members(id: string, options?: CallOptions & PagingOptions): AsyncIterable<Contact> {
    // Unless `responseValidation` is `strict`, a response may have any shape.
    return contactsWith(
      this.#call,
      { operation: "lists.members", id, options },
      ({ listIds }) => Array.isArray(listIds) && listIds.includes(id),
    );
  }

  #change(
    operation: MembersChange["operation"],
    { emails, ...rest }: { readonly id: string; readonly emails: Addresses; readonly options: CallOptions },
  ): ApiPromise<MembersReport> {
    const call = this.#call.open(operation.id);
    return call.answer(changeMembers(emails, { call, operation, ...rest }));
  }
}
