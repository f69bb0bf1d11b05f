import type { Call } from "../call/executor.ts";
import { TouchpointError, ValidationError } from "../errors.ts";
import type { CallOptions } from "../options/options.ts";
import { iterateUntilAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { describeIssues, issuesOf } from "../service/check.ts";
import { EmailAddress } from "../service/common.ts";
import type { Operation } from "../service/define.ts";
import { type ListMembers, maxAddressesPerRequest } from "../service/lists.ts";
import { InFlight } from "./in-flight.ts";
import { EffectTracker, withDeadline } from "./with-deadline.ts";

/** Any number of addresses: an array, a set, a generator, a stream of strings. */
export type Addresses = (Iterable<string> & object) | AsyncIterable<string>;

/** The result of changing a list's members. */
export interface MembersReport {
  /** Addresses sent, each counted once. */
  readonly requested: number;
  /** The number of requests. */
  readonly calls: number;
  /** The service's responses, in the order of the addresses; their shape is not documented. */
  readonly answers: readonly unknown[];
}

export interface MembersChange {
  readonly call: Call;
  readonly clock: Clock;
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
  readonly #effect = new EffectTracker();
  readonly #known = new Map<string, string>();
  readonly #done = new Set<string>();
  readonly #answers: unknown[] = [];
  #calls = 0;

  constructor(change: MembersChange) {
    this.#change = change;
  }

  async run(emails: Addresses): Promise<MembersReport> {
    const { clock, operation, options } = this.#change;
    const bounded = { operation: operation.id, signal: options.signal, effect: this.#effect, clock };
    try {
      await withDeadline(bounded, () => this.#sendAll(emails));
    } catch (error) {
      throw this.#withPartial(error);
    }
    return { requested: this.#known.size, calls: this.#calls, answers: this.#answers };
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
    const { call, operation, options } = this.#change;
    const open = call.untilClosed(operation.id, options.signal, () => this.#effect.outcome);
    try {
      await this.#sendItems(iterateUntilAborted(emails, open.signal));
    } finally {
      open.release();
    }
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
    const name = email.toLowerCase();
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
      this.#answers[place] = await this.#effect.of(
        call(operation, { id, payload: { emails: [...emails] } }, options),
      );
      for (const email of emails) this.#done.add(email);
    });
  }

  #withPartial(error: unknown): unknown {
    if (!(error instanceof TouchpointError)) return error;
    const known = [...this.#known.values()];
    const done = known.filter((email) => this.#done.has(email));
    const left = known.filter((email) => !this.#done.has(email));
    error.partial = { results: this.#answers.filter((given) => given !== undefined), done, left };
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
  return change.call.group(operation, change.options, (call, { signal }) =>
    new Change({ ...change, call, options: { ...change.options, signal } }).run(emails),
  );
};
