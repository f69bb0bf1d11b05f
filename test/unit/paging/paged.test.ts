import { describe, expect, test } from "vitest";
import { ValidationError } from "../../../src/errors.ts";
import { operations } from "../../../src/operations/index.ts";
import { paged } from "../../../src/paging/paged.ts";
import { MovingList, type MovingListOptions } from "../../support/moving-list.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

/** A list of contacts over a call that answers from a moving list. */
const listOf = (options: Partial<MovingListOptions>, paging: object = {}, query: object = {}) => {
  const list = new MovingList({ length: 1_000, order: "oldest first", ...options });
  const call = scriptedCall((_operation, payload, callOptions) => {
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

  test("a query name that the document does not show is sent, awaited and iterated", async () => {
    const sent: unknown[] = [];
    const call = scriptedCall(async (_operation, payload) => {
      sent.push(payload);
      return { data: [], total: 0 };
    });
    const query: object = { stage: "REPLIED", page: 2 };
    const contacts = paged(call, operations.contacts.list, query, {});
    await contacts;
    await contacts.toArray();
    expect(sent).toEqual([query, { ...query, skip: 0, limit: 200 }]);
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

  test("the same iterator goes on after an error, and misses nobody", async () => {
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
