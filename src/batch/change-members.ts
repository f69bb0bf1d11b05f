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
import { inChunks } from "./in-flight.ts";

/** Any number of addresses: an array, a set, a generator or a stream of strings. */
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

/**
 * Reads all addresses. If addresses differ only in the case of ASCII letters, returns only the first of them.
 *
 * @throws ValidationError that names every invalid address.
 */
const distinctAddresses = async (
  emails: Addresses,
  operation: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> => {
  const addresses = new Map<string, string>();
  const faults: Issue[] = [];
  let index = 0;
  for await (const email of iterateUntilAborted(emails, signal)) {
    const issues = issuesOf(EmailAddress, email);
    for (const { message } of issues) faults.push({ path: `emails[${index}]`, message });
    index += 1;
    if (issues.length > 0) continue;
    const folded = foldAscii(email);
    if (!addresses.has(folded)) addresses.set(folded, email);
  }
  throwIfInvalid(operation, faults);
  return [...addresses.values()];
};

/** Adds or removes any number of contacts, 1,000 per request. Checks every address before the first request. */
export const changeMembers = async (emails: Addresses, change: MembersChange): Promise<MembersReport> => {
  const { id: operation } = change.operation;
  if (!isIterable(emails))
    throw invalid(operation, "emails", "must be an array or an (async) iterable of email addresses");
  let addresses: readonly string[] = [];
  const done = new Set<string>();
  const responses: unknown[] = [];
  const work = async (call: Call, options: CallOptions): Promise<void> => {
    addresses = await distinctAddresses(emails, operation, call.signal);
    const chunks = { size: maxAddressesPerRequest, limit: requestsAtOnce };
    await inChunks(addresses, chunks, async (chunk, start) => {
      const input = { id: change.id, payload: { emails: [...chunk] } };
      const response = await sendRequest(call, change.operation, input, options);
      responses[start / maxAddressesPerRequest] = response;
      for (const email of chunk) done.add(email);
    });
  };
  try {
    await change.call.run(operation, change.options, work);
  } catch (error) {
    if (error instanceof TouchpointError && addresses.length > 0)
      error.partial = {
        results: responses.filter((response) => response !== undefined),
        done: addresses.filter((email) => done.has(email)),
        left: addresses.filter((email) => !done.has(email)),
      };
    throw error;
  }
  return { requested: addresses.length, calls: responses.length, responses };
};
