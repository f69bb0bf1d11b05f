import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import { invalid, throwIfInvalid } from "../call/request.ts";
import { type Issue, TouchpointError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { iterateUntilAborted } from "../runtime/cancellation.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { isIterable } from "../runtime/values.ts";
import { issuesOf } from "../service/check.ts";
import { EmailAddress } from "../service/common.ts";
import type { Operation } from "../service/define.ts";
import { type ListMembers, maxAddressesPerRequest } from "../service/lists.ts";
import { InFlight } from "./in-flight.ts";

/** Any number of addresses: an array, a set, a generator, a stream of strings. */
export type Addresses = (Iterable<string> & object) | AsyncIterable<string>;

/** The result of changing a list's members. */
export interface MembersReport {
  /** The number of distinct addresses. */
  readonly requested: number;
  /** The number of requests. */
  readonly calls: number;
  /** The service's responses, in the order of the addresses. Their shape is not documented. */
  readonly responses: readonly unknown[];
}

export interface MembersChange {
  readonly call: Call;
  readonly operation: Operation<ListMembers, unknown>;
  /** The id of the list. */
  readonly id: string;
  readonly options: CallOptions;
}

const requestsAtOnce = 4;

/** One change in progress: the addresses that it has read, and those that it has sent. */
class Change {
  readonly #change: MembersChange;
  readonly #flight = new InFlight(requestsAtOnce);
  /** Each distinct address as it was first given, keyed by its ASCII-lowercased form. */
  readonly #addresses = new Map<string, string>();
  readonly #sent = new Set<string>();
  readonly #responses: unknown[] = [];
  #calls = 0;

  constructor(change: MembersChange) {
    this.#change = change;
  }

  async run(emails: Addresses): Promise<MembersReport> {
    try {
      if (Array.isArray(emails)) await this.#sendArray(emails);
      else await this.#sendStream(emails);
    } finally {
      // Even after a failure, wait for the requests in flight, so that their effects are known.
      await this.#flight.settled();
    }
    return { requested: this.#addresses.size, calls: this.#calls, responses: this.#responses };
  }

  async #sendArray(emails: readonly unknown[]): Promise<void> {
    const { id } = this.#change.operation;
    throwIfInvalid(
      id,
      emails.flatMap((email, index) => this.#take(email, index)),
    );
    const distinct = [...this.#addresses.values()];
    for (let at = 0; at < distinct.length; at += maxAddressesPerRequest)
      await this.#send(distinct.slice(at, at + maxAddressesPerRequest));
  }

  async #sendStream(emails: Addresses): Promise<void> {
    let chunk: string[] = [];
    let index = 0;
    for await (const email of iterateUntilAborted(emails, this.#change.call.signal)) {
      const sizeBefore = this.#addresses.size;
      throwIfInvalid(this.#change.operation.id, this.#take(email, index++));
      if (this.#addresses.size > sizeBefore) chunk.push(email);
      if (chunk.length < maxAddressesPerRequest) continue;
      await this.#send(chunk);
      chunk = [];
    }
    if (chunk.length > 0) await this.#send(chunk);
  }

  /** Adds a valid address. Ignores a repeated one, whatever the case of its letters. */
  #take(email: unknown, index: number): readonly Issue[] {
    const issues = issuesOf(EmailAddress, email);
    if (issues.length > 0 || typeof email !== "string")
      return issues.map(({ message }) => ({ path: `emails[${index}]`, message }));
    const name = foldAscii(email);
    if (!this.#addresses.has(name)) this.#addresses.set(name, email);
    return [];
  }

  async #send(emails: readonly string[]): Promise<void> {
    const { call, operation, id, options } = this.#change;
    const index = this.#calls;
    await this.#flight.add(async () => {
      this.#calls += 1;
      const input = { id, payload: { emails: [...emails] } };
      this.#responses[index] = await sendRequest(call, operation, input, options);
      for (const email of emails) this.#sent.add(email);
    });
  }

  get partial(): NonNullable<TouchpointError["partial"]> {
    const addresses = [...this.#addresses.values()];
    return {
      results: this.#responses.filter((response) => response !== undefined),
      done: addresses.filter((email) => this.#sent.has(email)),
      left: addresses.filter((email) => !this.#sent.has(email)),
    };
  }
}

/**
 * Adds or removes any number of contacts, 1,000 per request. It checks a complete array before it sends anything, and a
 * stream while it reads it.
 */
export const changeMembers = async (emails: Addresses, change: MembersChange): Promise<MembersReport> => {
  const { id: operation } = change.operation;
  if (!isIterable(emails))
    throw invalid(operation, "emails", "must be an array or an (async) iterable of email addresses");
  let current: Change | undefined;
  try {
    return await change.call.run(operation, change.options, (call, options) => {
      current = new Change({ ...change, call, options });
      return current.run(emails);
    });
  } catch (error) {
    if (current !== undefined && error instanceof TouchpointError) error.partial = current.partial;
    throw error;
  }
};
