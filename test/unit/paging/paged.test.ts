import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { type Issue, ResponseValidationError, ValidationError } from "../../../src/errors.ts";
import { paged } from "../../../src/paging/paged.ts";
import { operations } from "../../../src/service/operations.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MovingList, type MovingListOptions } from "../../support/moving-list.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

/** A list of contacts over a call that answers from a moving list. */
const listOf = (options: Partial<MovingListOptions>, paging: object = {}, query: object = {}) => {
  const list = new MovingList({ length: 1_000, order: "oldest first", ...options });
  const call = scriptedCall(new FakeClock(), (_operation, payload, callOptions) => {
    const { skip = 0, limit = 50 }: { skip?: number; limit?: number } = Object(payload);
    return list.fetch({ skip, limit }, callOptions?.signal);
  });
  return { list, contacts: paged(call, operations.contacts.list, query, { prefetch: 0, ...paging }) };
};

describe("paged", () => {
  test("sends nothing before it is awaited or iterated", async () => {
    const { list, contacts } = listOf({});
    contacts.pages();
    contacts[Symbol.asyncIterator]();
    expect(String(contacts)).toBe("[object List]");
    expect(list.requests).toEqual([]);
  });

  test("awaited it is one page with the query as given", async () => {
    const { list, contacts } = listOf({}, {}, { skip: 10, limit: 3 });
    expect((await contacts).data.map(({ id }) => id)).toEqual(["old-10", "old-11", "old-12"]);
    expect(list.requests).toEqual([{ skip: 10, limit: 3 }]);
  });

  test.each([500, 201, 0, 1.5, "50"])(
    "a limit of %j is refused before a page is asked for",
    async (limit) => {
      const { list, contacts } = listOf({}, {}, { limit });
      const records = contacts[Symbol.asyncIterator]();
      for (const form of [contacts.pages().next(), contacts.toArray(), records.next()]) {
        await expect(form).rejects.toMatchObject({
          code: "input_invalid",
          message: "contacts.list: limit: must be a whole number from 1 to 200",
        });
      }
      expect(list.requests).toEqual([]);
    },
  );

  test.each([
    [{ prefetch: -1 }, "prefetch must be a whole number of at least 0"],
    [{ consistency: "slow" }, 'consistency must be "strict" or "fast"'],
    [{ cursor: "a" }, "a cursor works only for an iteration: use for await, pages() or toArray()"],
  ])("awaited with %j it asks for nothing", async (paging, message) => {
    const { list, contacts } = listOf({}, paging);
    await expect(Promise.resolve(contacts)).rejects.toThrow(`contacts.list: ${message}`);
    await expect(contacts.withResponse()).rejects.toBeInstanceOf(ValidationError);
    expect(list.requests).toEqual([]);
  });

  test("a query name that the document does not show is sent, awaited and iterated", async () => {
    const sent: unknown[] = [];
    const call = scriptedCall(new FakeClock(), async (_operation, payload) => {
      sent.push(payload);
      return { data: [], total: 0 };
    });
    const query: object = { stage: "REPLIED", page: 2 };
    const contacts = paged(call, operations.contacts.list, query, {});
    await contacts;
    await contacts.toArray();
    expect(sent).toEqual([query, { ...query, skip: 0, limit: 200 }]);
  });

  test.each([-1, 1.5, Number.NaN, "5", null])(
    "toArray refuses a max of %j and asks for nothing",
    async (max) => {
      const { list, contacts } = listOf({});
      const wrong = { max } as unknown as { readonly max: number };
      await expect(contacts.toArray(wrong)).rejects.toMatchObject({
        code: "input_invalid",
        message: expect.stringContaining("contacts.list: max must be a whole number of at least 0, got "),
      });
      expect(list.requests).toEqual([]);
    },
  );

  test("a cursor of another query is refused, because it would leave records out", async () => {
    const search = listOf({}, {}, { search: "ada", limit: 5 });
    const { value: page } = await search.contacts.pages().next();
    const same = listOf({}, { cursor: page?.cursor }, { limit: 10, search: "ada" });
    expect((await same.contacts.toArray({ max: 1 })).map(({ id }) => id)).toEqual(["old-5"]);
    const all = listOf({}, { cursor: page?.cursor });
    await expect(all.contacts.toArray()).rejects.toThrow(
      "contacts.list: cursor: belongs to a list with another query. Pass the same query again",
    );
    expect(all.list.requests).toEqual([]);
  });

  test("toArray gives all, or the first max, and asks for no page more", async () => {
    const { list, contacts } = listOf({});
    expect(await contacts.toArray({ max: 201 })).toHaveLength(201);
    expect(list.requests).toHaveLength(2);
    expect(await contacts.toArray({ max: 0 })).toEqual([]);
    expect(list.requests).toHaveLength(2);
    expect(await contacts.toArray()).toHaveLength(1_000);
  });

  test("after a break nothing more is asked for, and what is under way is given up", async () => {
    const { list, contacts } = listOf({ delay: () => 20 }, { prefetch: 4 });
    for await (const _ of contacts) break;
    const { length } = list.requests;
    await new Promise(setImmediate);
    expect(list.requests).toHaveLength(length);
  });

  test("a stopped iterator is at its end, also for who waits for it already", async () => {
    const { contacts } = listOf({ delay: () => 20 });
    const iterator = contacts[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.return?.();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    const waiting = contacts.pages();
    const next = waiting.next();
    await waiting.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test("an iterator that is stopped before its first page asks for none", async () => {
    const { list, contacts } = listOf({});
    for (const iterator of [contacts[Symbol.asyncIterator](), contacts.pages()]) {
      await iterator.return?.();
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    }
    expect(list.requests).toEqual([]);
  });

  test("a break aborts the requests under way", async () => {
    const signals: AbortSignal[] = [];
    const list = new MovingList({ length: 1_000, order: "oldest first" });
    const call = scriptedCall(new FakeClock(), (_operation, payload, options) => {
      const { skip, limit }: { skip: number; limit: number } = Object(payload);
      if (options?.signal) signals.push(options.signal);
      return skip === 0 ? list.fetch({ skip, limit }) : new Promise(() => undefined);
    });
    for await (const _ of paged(call, operations.contacts.list, {}, { prefetch: 3 })) break;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, true, true]);
  });

  test("an abort ends an iteration before its next record, although more are here", async () => {
    for (const read of [
      (contacts: ReturnType<typeof listOf>["contacts"]) => contacts[Symbol.asyncIterator](),
      (contacts: ReturnType<typeof listOf>["contacts"]) => contacts.pages(),
    ]) {
      const abort = new AbortController();
      const { contacts } = listOf({}, { signal: abort.signal, prefetch: 3 });
      const iterator = read(contacts);
      expect(await iterator.next()).toMatchObject({ done: false });
      abort.abort("enough");
      for (let again = 0; again < 2; again += 1) await expect(iterator.next()).rejects.toBe("enough");
      await iterator.return?.();
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    }
  });

  test("a signal that outlives the walk keeps no listener of it", async () => {
    const { signal } = new AbortController();
    expect(await listOf({}, { signal }).contacts.toArray()).toHaveLength(1_000);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("an iteration begins at the skip of its query", async () => {
    const { contacts } = listOf({}, {}, { skip: 997 });
    expect((await contacts.toArray()).map(({ id }) => id)).toEqual(["old-997", "old-998", "old-999"]);
  });

  test("toArray of one record is one record", async () => {
    const { list, contacts } = listOf({});
    expect((await contacts.toArray({ max: 1 })).map(({ id }) => id)).toEqual(["old-0"]);
    expect(list.requests).toHaveLength(1);
  });

  test("null for the query or the options stands for none, as JavaScript lets it through", async () => {
    const sent: unknown[] = [];
    const call = scriptedCall(new FakeClock(), async (_operation, payload) => {
      sent.push(payload);
      return { data: [], total: 0 };
    });
    // Only JavaScript can give it.
    const nothing = null as unknown as object;
    const contacts = paged(call, operations.contacts.list, nothing, nothing);
    await contacts;
    expect(await contacts.toArray()).toEqual([]);
    expect(sent).toEqual([{}, { skip: 0, limit: 200 }]);
  });

  test("an order that changes is reported under the operation's name, with the field", async () => {
    const reports: [string, readonly Issue[]][] = [];
    const list = new MovingList({
      length: 900,
      order: "oldest first",
      before: ({ items }, { skip }) => void items.splice(skip, 0, ...items.splice(skip + 1, 1)),
    });
    const call = scriptedCall(new FakeClock(), (_operation, payload) => list.fetch(Object(payload)));
    const report = (operation: string, issues: readonly Issue[]): void =>
      void reports.push([operation, issues]);
    const reporting = Object.assign(call, { report });
    await paged(reporting, operations.contacts.list, {}, { prefetch: 0 }).toArray();
    const message =
      "the order of the list changes while it is read, so some records may be missed or repeated";
    expect(reports).toEqual([["contacts.list", [{ path: "data", message }]]]);
  });

  test.each([undefined, {}, { data: null, total: 3 }, { data: "abc" }])(
    "an answer without a page is an error, not the end of the list: %j",
    async (answer) => {
      const call = scriptedCall(new FakeClock(), async () => answer);
      const all = paged(call, operations.contacts.list, {}, {}).toArray();
      await expect(all).rejects.toBeInstanceOf(ResponseValidationError);
      await expect(all).rejects.toMatchObject({
        message: "contacts.list: the response is not a page: data must be an array",
        status: 200,
        attempts: 1,
        issues: [{ path: "data", message: "must be an array" }],
      });
    },
  );

  test("the same iterator continues after an error, and misses no record", async () => {
    const fails = [false, true, true, false, true];
    const before = (): void => {
      if (fails.shift()) throw new Error("500");
    };
    const iterator = listOf({ before }).contacts[Symbol.asyncIterator]();
    const ids: string[] = [];
    let errors = 0;
    for (;;) {
      const result = await iterator.next().catch(() => undefined);
      if (result === undefined) errors += 1;
      else if (result.done) break;
      else ids.push(result.value.id);
    }
    expect([errors, ids]).toEqual([3, Array.from({ length: 1_000 }, (_, at) => `old-${at}`)]);
  });

  test("calls of next that do not wait for each other get records in order", async () => {
    const iterator = listOf({}).contacts[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 300 }, () => iterator.next()));
    expect(results.map(({ value }) => value?.id)).toEqual(results.map((_, at) => `old-${at}`));
  });

  test("a cursor goes on after its page in another walk", async () => {
    const { list, contacts } = listOf({});
    const first = await contacts.pages().next();
    if (first.done) throw new Error("no page");
    list.remove(0, 50);
    const { contacts: rest } = listOf({}, { cursor: first.value.cursor });
    expect((await rest.toArray())[0]?.id).toBe("old-200");
  });

  test.each([
    [{ prefetch: -1 }, "prefetch must be"],
    [{ prefetch: 1.5 }, "prefetch must be"],
    [{ consistency: "loose" }, "consistency must be"],
    [{ cursor: "junk" }, "cursor: must be"],
    [{ cursor: Buffer.from('{"v":1}').toString("base64url") }, "cursor: must be"],
  ])("refuses %o without sending anything", async (paging, message) => {
    const { list, contacts } = listOf({}, paging);
    const all = contacts.toArray();
    await expect(all).rejects.toBeInstanceOf(ValidationError);
    await expect(all).rejects.toThrow(message);
    expect(list.requests).toEqual([]);
  });
});
