import type { CallScope } from "../call/scope.ts";
import { TouchpointError, ValidationError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { iterateUntilAborted } from "../runtime/cancellation.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { describeIssues, issuesOf } from "../service/check.ts";
import { EmailAddress } from "../service/common.ts";
import type { Operation } from "../service/define.ts";
import { type ListMembers, maxAddressesPerRequest } from "../service/lists.ts";
import { InFlight } from "./in-flight.ts";

/** Any number of addresses: an array, a set, a generator, a stream of strings. */
export type Addresses = (Iterable<string> & object) | AsyncIterable<string>;

/** The result of changing a list's members. */
export interface MembersReport {
  /** Addresses sent, each counted once. */
  readonly requested: number;
  /** The number of requests. */
  readonly calls: number;
  /** The service's responses, in the order of the addresses; their shape is not documented. */
  readonly responses: readonly unknown[];
}

export interface MembersChange {
  readonly call: CallScope;
  readonly operation: Operation<ListMembers, unknown>;
  /** The id of the list. */
  readonly id: string;
  readonly options: CallOptions;
}

const requestsAtOnce = 4;

/** One change in progress: the addresses that it has read, and those that were sent. */
class Change {
  readonly #change: MembersChange;
  readonly #flight = new InFlight(requestsAtOnce);
  readonly #known = new Map<string, string>();
  readonly #done = new Set<string>();
  readonly #responses: unknown[] = [];
  #calls = 0;

  constructor(change: MembersChange) {
    this.#change = change;
  }

  async run(emails: Addresses): Promise<MembersReport> {
    await this.#sendAll(emails);
    return { requested: this.#known.size, calls: this.#calls, responses: this.#responses };
  }

  async #sendAll(emails: Addresses): Promise<void> {
    try {
      if (Array.isArray(emails)) await this.#sendArray(emails);
      else await this.#sendStream(emails);
      await this.#flight.settled();
    } catch (error) {
      // Requests in flight are awaited, so that their effect is known; the first error is thrown.
      await this.#flight.settled().catch(() => undefined);
      throw error;
    }
  }

  async #sendArray(emails: readonly unknown[]): Promise<void> {
    const issues = emails.flatMap((email, index) => this.#take(email, index) ?? []);
    if (issues.length > 0) throw this.#invalid(issues);
    const distinct = [...this.#known.values()];
    for (let at = 0; at < distinct.length; at += maxAddressesPerRequest) {
      await this.#send(distinct.slice(at, at + maxAddressesPerRequest));
    }
  }

  async #sendStream(emails: Iterable<unknown> | AsyncIterable<unknown>): Promise<void> {
    await this.#sendItems(iterateUntilAborted(emails, this.#change.call.signal));
  }

  async #sendItems(emails: AsyncIterable<unknown>): Promise<void> {
    let chunk: string[] = [];
    let index = 0;
    for await (const email of emails) {
      const before = this.#known.size;
      const issues = this.#take(email, index);
      if (issues !== undefined) throw this.#invalid(issues);
      // It is a string: it was accepted.
      if (this.#known.size > before) chunk.push(email as string);
      if (chunk.length === maxAddressesPerRequest) {
        await this.#send(chunk);
        chunk = [];
      }
      index += 1;
    }
    if (chunk.length > 0) await this.#send(chunk);
  }

  /** Adds a valid address; a repeated one, in any case of letters, is ignored. */
  #take(
    email: unknown,
    index: number,
  ): readonly { readonly path: string; readonly message: string }[] | undefined {
    const issues = issuesOf(EmailAddress, email);
    if (issues.length > 0 || typeof email !== "string") {
      return issues.map(({ message }) => ({ path: `emails[${index}]`, message }));
    }
    const name = foldAscii(email);
    if (!this.#known.has(name)) this.#known.set(name, email);
    return undefined;
  }

  #invalid(issues: readonly { readonly path: string; readonly message: string }[]): ValidationError {
    const { id: operation } = this.#change.operation;
    return new ValidationError(`${operation}: ${describeIssues(issues)}`, { operation, issues });
  }

  async #send(emails: readonly string[]): Promise<void> {
    const { call, operation, id, options } = this.#change;
    const place = this.#calls;
    await this.#flight.add(async () => {
      this.#calls += 1;
      const input = { id, payload: { emails: [...emails] } };
      this.#responses[place] = await call.request(operation, input, options);
      for (const email of emails) this.#done.add(email);
    });
  }

  withPartial(error: unknown): unknown {
    if (!(error instanceof TouchpointError)) return error;
    const known = [...this.#known.values()];
    const done = known.filter((email) => this.#done.has(email));
    const left = known.filter((email) => !this.#done.has(email));
    error.partial = { results: this.#responses.filter((given) => given !== undefined), done, left };
    if (this.#calls > 1 || done.length > 0) {
      error.message += ` (${done.length} of ${known.length} addresses went through; \`partial\` says which)`;
    }
    return error;
  }
}

const isIterable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

/**
 * Adds or removes any number of contacts, 1,000 per request. An array is checked completely before anything is sent, a
 * stream as it is read.
 */
export const changeMembers = async (emails: Addresses, change: MembersChange): Promise<MembersReport> => {
  const { id: operation } = change.operation;
  if (!isIterable(emails)) {
    const issues = [
      { path: "emails", message: "must be an array or an (async) iterable of email addresses" },
    ];
    throw new ValidationError(`${operation}: ${describeIssues(issues)}`, { operation, issues });
  }
  let begun: Change | undefined;
  try {
    return await change.call.run(operation, change.options, (call) => {
      begun = new Change({ ...change, call });
      return begun.run(emails);
    });
  } catch (error) {
    throw begun === undefined ? error : begun.withPartial(error);
  }
};
