import { type ApiPromise, answer, type WithResponse } from "../call/api-promise.ts";
import type { Call } from "../call/call.ts";
import { sendRequest } from "../call/executor.ts";
import { throwIfInvalid } from "../call/request.ts";
import { ResponseValidationError } from "../errors.ts";
import { callErrorFrom } from "../http/error-from.ts";
import type { CallOptions } from "../options/options.ts";
import type { Priority } from "../options/priority.ts";
import { callRules } from "../options/validation.ts";
import { openScope } from "../runtime/cancellation.ts";
import {
  anything,
  mustBeOneOf,
  mustBeWhole,
  type Rules,
  readOptions,
  refuseFaults,
  ruleFaults,
} from "../runtime/rules.ts";
import { hasOptions } from "../runtime/values.ts";
import { issuesOf, readFields } from "../service/check.ts";
import type { Page } from "../service/common.ts";
import type { Operation } from "../service/define.ts";
import { queryText, readCursor } from "./cursor.ts";
import { largestLimit } from "./page-size.ts";
import { Walk, type WalkedPage } from "./walk.ts";

/** Options for reading a list. */
export interface PagingOptions {
  /** The number of pages to request ahead; 0 for none. Default: as many as the latency makes useful, at most 16. */
  readonly prefetch?: number | undefined;
  /** `fast` skips the protection against records that are added or removed between pages. Default `strict`. */
  readonly consistency?: "strict" | "fast" | undefined;
  /** Continues after the page that has this cursor. For iteration only, not for a single awaited page. */
  readonly cursor?: string | undefined;
}

/**
 * A list: await it for one page, iterate it for every record. Nothing is sent before you do.
 *
 * `await` and `toArray` each make one call, and `totalTimeoutMs` limits the complete call. An iteration takes as long
 * as its consumer does, so there `totalTimeoutMs` limits each request for a page.
 */
export interface Paged<T> extends Promise<Page<T>>, AsyncIterable<T> {
  /**
   * Returns one page together with its HTTP response.
   *
   * @example
   * ```ts
   * const { data: page, response } = await client.contacts.list().withResponse();
   * console.log(page.total, response.status);
   * ```
   */
  withResponse(): Promise<WithResponse<Page<T>>>;
  /**
   * Iterates the pages. Each page has only records that were not yielded before. Its `cursor` continues after this page.
   *
   * @example
   * ```ts
   * for await (const { data, cursor } of client.contacts.list().pages()) console.log(data.length, cursor);
   * ```
   */
  pages(options?: { readonly cursor?: string | undefined }): AsyncIterableIterator<WalkedPage<T>>;
  /** The operation and the query of this list. */
  readonly request: { readonly operation: string; readonly query: object };
  /**
   * Returns the first `max` records, or all of them, as an array.
   *
   * @example
   * ```ts
   * const contacts = await client.contacts.list().toArray({ max: 100 });
   * ```
   */
  toArray(options?: { readonly max?: number }): ApiPromise<T[]>;
}

/** The position at which the pages begin. */
type PageOptions = Pick<PagingOptions, "cursor">;

interface ListQuery {
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
}

const walkRules: Rules = {
  ...callRules,
  prefetch: mustBeWhole(0),
  consistency: mustBeOneOf("strict", "fast"),
  cursor: anything,
};

// A single page is requested by `skip`. With a cursor, the list would first have to search for the position.
const pageRules: Rules = {
  ...walkRules,
  cursor: () => ["a cursor works only for an iteration: use for await, pages() or toArray()"],
};

const arrayRules: Rules = {
  max: (max, name) => (max === Number.POSITIVE_INFINITY ? [] : mustBeWhole(0)(max, name)),
};

/**
 * Creates an iterator that runs one step at a time, in the order of the calls of `next`. The call after a failure
 * continues at the same position.
 *
 * @param signals - each signal ends the iteration before the next item, even if that item has already arrived.
 */
const iterator = <T>(
  call: Call,
  signals: readonly (AbortSignal | undefined)[],
  { next, stop }: { readonly next: () => Promise<T | undefined>; readonly stop: () => void },
): AsyncIterableIterator<T> => {
  let last: Promise<unknown> = Promise.resolve();
  let hasStopped = false;
  const step = async (): Promise<IteratorResult<T>> => {
    const aborted = hasStopped ? undefined : signals.find((signal) => signal?.aborted);
    // Fail as the next request would, without sending it.
    if (aborted !== undefined)
      throw callErrorFrom(aborted.reason, { operation: call.operation, attempts: 0, outcome: "not-applied" });
    try {
      const value = hasStopped ? undefined : await next();
      if (value !== undefined && !hasStopped) return { done: false, value };
    } catch (error) {
      // Stopping aborts the page in flight. The consumer gets the end of the iteration, not this error.
      if (!hasStopped) throw error;
    }
    return { done: true, value: undefined };
  };
  return {
    next: () => {
      const result = last.then(step);
      last = result.catch(() => undefined);
      return result;
    },
    return: async () => {
      hasStopped = true;
      stop();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
};

/**
 * Creates a list for an operation that returns pages.
 *
 * @param settings - `priority`: the priority of the pages of an iteration. It is background if there are no `settings`;
 * if the `settings` have no priority, it is that of the call. `mayBeShort`: whether a list that ends below the
 * service's count is only reported. If `responseValidation` is `strict`, such a list is always an error.
 */
export const paged = <T, Query extends ListQuery>(
  call: Call,
  operation: Operation<Query, Page<T>>,
  ownQuery: Query,
  listOptions: CallOptions & PagingOptions,
  { mayBeShort = true, ...iterating }: { readonly priority?: Priority; readonly mayBeShort?: boolean } = {
    priority: "background",
  },
): Paged<T> => {
  // JavaScript callers may pass null, which means undefined.
  const query = readFields(operation.input, ownQuery ?? {});
  const options = readOptions(listOptions, walkRules);
  // If the options are not an object, `check` refuses them before the first request.
  const { prefetch, consistency, cursor, ...callOptions } = hasOptions(options) ? options : {};
  const check = (some: unknown, rules: Rules): void => refuseFaults(operation.id, ruleFaults(some, rules));
  const page = (): ApiPromise<Page<T>> => {
    try {
      check(options, pageRules);
    } catch (error) {
      return answer(Promise.reject(error));
    }
    return sendRequest(call, operation, { payload: query }, callOptions);
  };

  const walk = (via: Call, pageOptions: PageOptions | undefined): Walk<T> => {
    check(options, walkRules);
    check(pageOptions, { cursor: anything });
    const { cursor: from = cursor } = pageOptions ?? {};
    // Check the query here, because each request replaces its `limit`, which would hide a fault.
    throwIfInvalid(operation.id, issuesOf(operation.input, query));
    return new Walk<T>({
      operation: operation.id,
      fetch: async (request, signal) => {
        const bound = openScope([callOptions.signal, signal]);
        try {
          const response = sendRequest(
            via,
            operation,
            { payload: { ...query, ...request }, plan: iterating },
            { ...callOptions, signal: bound.signal },
          );
          return usable(operation.id, await response.withResponse());
        } finally {
          bound.release?.();
        }
      },
      skip: query.skip ?? 0,
      limit: query.limit ?? largestLimit,
      prefetch,
      isDriftSafe: consistency !== "fast",
      start: from === undefined ? undefined : readCursor(operation.id, from, queryText(query)),
      query: queryText(query),
      onUnstable: (message) => call.report(operation.id, [{ path: "data", message }]),
      onShort: (missing, total) => {
        const [records] = operation.id.split(".");
        const message = `the service did not return ${missing} of ${total} ${records}`;
        const issues = [{ path: "data", message }];
        if (!mayBeShort || call.context.settings.responseValidation === "strict")
          return new ResponseValidationError(`${operation.id}: ${message}`, {
            ...{ operation: operation.id, status: 200, issues },
          });
        call.report(operation.id, issues);
        return undefined;
      },
    });
  };

  const pages = (via = call, pageOptions?: PageOptions): AsyncIterableIterator<WalkedPage<T>> => {
    // From here on, closing the client ends the iteration.
    const own = via.open(operation.id);
    let walking: Walk<T> | undefined;
    return iterator(own, [callOptions.signal, own.signal], {
      next: () => {
        walking ??= walk(own, pageOptions);
        return walking.next();
      },
      stop: () => walking?.stop(),
    });
  };

  const records = (via = call): AsyncIterableIterator<T> => {
    const own = via.open(operation.id);
    const source = pages(own);
    let current: readonly T[] = [];
    let index = 0;
    const next = async (): Promise<T | undefined> => {
      while (index >= current.length) {
        const result = await source.next();
        if (result.done) return undefined;
        current = result.value.data;
        index = 0;
      }
      return current[index++];
    };
    return iterator(own, [callOptions.signal, own.signal], { next, stop: () => void source.return?.() });
  };

  return {
    // A list is lazy: it requests a page only when you await it.
    then: (onFulfilled, onRejected) => page().then(onFulfilled, onRejected),
    catch: (onRejected) => page().catch(onRejected),
    finally: (onFinally) => page().finally(onFinally),
    [Symbol.toStringTag]: "List",
    withResponse: () => page().withResponse(),
    pages: (pageOptions) => pages(call, pageOptions),
    request: { operation: operation.id, query },
    [Symbol.asyncIterator]: () => records(),
    toArray: (pageOptions) => {
      const { max = Number.POSITIVE_INFINITY } = pageOptions ?? {};
      const own = call.open(operation.id);
      const all: T[] = [];
      const read = own.run(operation.id, callOptions, async (via) => {
        check(pageOptions, arrayRules);
        if (max === 0) return all;
        for await (const record of records(via)) {
          all.push(record);
          if (all.length >= max) break;
        }
        return all;
      });
      return own.answer(read);
    },
  };
};

/**
 * While iterating, treats a page without readable records as an error, because the list would otherwise seem to end
 * there.
 */
const usable = <T>(operation: string, { data: page, response }: WithResponse<Page<T>>): Page<T> => {
  if (Array.isArray((page as { readonly data?: unknown } | undefined)?.data)) return page;
  const { status, attempts } = response;
  const issues = [{ path: "data", message: "must be an array" }];
  throw new ResponseValidationError(`${operation}: the response is not a page: data must be an array`, {
    ...{ operation, attempts, status, issues },
  });
};
