import {
  type Addresses,
  changeMembers,
  type MembersChange,
  type MembersReport,
} from "../batch/change-members.ts";
import type { ApiPromise } from "../call/api-promise.ts";
import type { Call } from "../call/executor.ts";
import type { CallOptions } from "../options/options.ts";
import type { Clock } from "../runtime/clock.ts";
import type { List, ListInput } from "../service/lists.ts";
import { operations } from "../service/operations.ts";

/** Named groups of contacts. Reached as `client.lists`. */
export class Lists {
  readonly #call: Call;
  readonly #clock: Clock;

  constructor(call: Call, clock: Clock) {
    this.#call = call;
    this.#clock = clock;
  }

  /**
   * Creates a list (inferred: its path is not documented). Not repeated when the answer is lost, since a repeat would
   * clash with the first.
   *
   * @throws ConflictError when a list has the name already.
   *
   * Source: service document, List, and Lists, "Create-list".
   */
  create(input: ListInput, options?: CallOptions): ApiPromise<List> {
    return this.#call(operations.lists.create, { payload: input }, options);
  }

  /**
   * Adds people to a list, without touching their other lists; whoever is no contact yet becomes one.
   *
   * @param emails - any number, from an array or any (async) iterable: 1,000 go out per request, and an address that
   * comes twice, in any case of letters, goes out once. None sends nothing.
   * @param options - `totalTimeoutMs` bounds all of the requests together, and the wait for a stream.
   * @throws ValidationError naming what is no address, `emails[3]`; of an array nothing was sent.
   * @throws NotFoundError when the workspace has no list with the id.
   * @throws TouchpointError when one request of several failed: `partial.done` went through, `partial.left` did not,
   * or nobody knows, and may be sent again without harm. Of a stream they are those that were read.
   *
   * Source: service document, Lists, POST, and Limits.
   */
  addContacts(id: string, emails: Addresses, options: CallOptions = {}): ApiPromise<MembersReport> {
    return this.#change(operations.lists.addContacts, { id, emails, options });
  }

  /**
   * Takes people off a list; they stay contacts.
   *
   * @param emails - as for `addContacts`.
   * @throws the same as `addContacts`.
   *
   * Source: service document, Lists, DELETE, and Limits.
   */
  removeContacts(id: string, emails: Addresses, options: CallOptions = {}): ApiPromise<MembersReport> {
    return this.#change(operations.lists.removeContacts, { id, emails, options });
  }

  #change(
    operation: MembersChange["operation"],
    { emails, ...what }: { readonly id: string; readonly emails: Addresses; readonly options: CallOptions },
  ): ApiPromise<MembersReport> {
    const call = this.#call.scope();
    return call.answer(changeMembers(emails, { call, clock: this.#clock, operation, ...what }));
  }
}
