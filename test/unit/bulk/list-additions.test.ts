import { expect, test } from "vitest";
import { importContacts } from "../../../src/bulk/import.ts";
import { ListAdditions } from "../../../src/bulk/list-additions.ts";
import { ApiError } from "../../../src/errors.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { emptyWorkspace } from "../../support/import-context.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

const failure = (status: number) =>
  new ApiError(`no: ${status}`, {
    ...{ operation: "lists.addContacts", outcome: "not-applied" as const, status },
    ...{ headers: new Headers(), body: undefined },
  });
const refusal = failure(400);

const scene = (most = 3) => {
  const sent: string[] = [];
  const refused: unknown[] = [];
  const list = {
    signal: undefined,
    add: async (emails: readonly string[]) => {
      if (emails.some((email) => /^bad/i.test(email))) throw refusal;
      sent.push(emails.join());
    },
    onRefused: async ({ index, item }: { index: number; item: { email: string } }) =>
      void refused.push([index, item.email]),
  };
  const additions = new ListAdditions(list, most);
  const take = (...indexes: readonly number[]): void =>
    additions.take(indexes.map((index) => ({ index, item: { email: `p${index}` } })));
  return { sent, refused, additions, take };
};

test("an address that the list refuses keeps no other out, and is told once a row", async () => {
  const { sent, refused, additions } = scene(8);
  const emails = ["a", "b", "bad1", "c", "BAD1", "d", "bad2", "e"];
  additions.take(emails.map((email, index) => ({ index, item: { email } })));
  await additions.pump();
  expect([sent.join().split(",").sort(), refused]).toEqual([
    ["a", "b", "c", "d", "e"],
    [
      [2, "bad1"],
      [4, "BAD1"],
      [6, "bad2"],
    ],
  ]);
  expect(additions.progress).toEqual({ before: 8, except: [] });
});

test("a list that is not there ends the run", async () => {
  const gone = new ListAdditions(
    {
      signal: undefined,
      add: () => Promise.reject(failure(404)),
      onRefused: () => Promise.reject(new Error("must not be told")),
    },
    3,
  );
  gone.take([{ index: 0, item: { email: "a" } }]);
  await expect(gone.finish()).rejects.toThrow("no: 404");
  expect(gone.progress.before).toBe(0);
});

test("what fills a request is added at once, the rest at the end", async () => {
  const { sent, additions, take } = scene();
  take(0, 1);
  await additions.pump();
  take(2, 3);
  await additions.pump();
  expect([[...sent], additions.progress]).toEqual([["p0,p1,p2"], { before: 3, except: [] }]);
  await additions.finish();
  expect([sent, additions.progress]).toEqual([["p0,p1,p2", "p3"], { before: 4, except: [] }]);
});

test("an address that comes twice, in any case of letters, is sent once", async () => {
  const { sent, additions } = scene();
  additions.take(["a", "A", "b"].map((email, index) => ({ index, item: { email } })));
  await additions.pump();
  expect([sent, additions.progress.before]).toEqual([["A,b"], 3]);
});

test("a run that goes on adds what waited, and not what was refused", async () => {
  const { sent, additions, take } = scene();
  additions.resume({ version: 1, done: 5, last: "x", list: { before: 1, except: [3, 6] } });
  for (let index = 0; index < 5; index += 1) additions.passOver({ index, item: { email: `p${index}` } });
  expect(additions.progress).toEqual({ before: 1, except: [3] });
  take(5, 6);
  await additions.finish();
  expect([sent, additions.progress]).toEqual([["p1,p2,p4", "p5,p6"], { before: 7, except: [] }]);
});

test("a checkpoint from before there was a list says nothing of the rows that it covers", async () => {
  const { sent, additions } = scene();
  additions.resume({ version: 1, done: 2, last: "x" });
  for (const index of [0, 1]) additions.passOver({ index, item: { email: `p${index}` } });
  await additions.finish();
  expect([sent, additions.progress.before]).toEqual([[], 2]);
});

test("however many rows are refused, few are kept in mind", async () => {
  const { sent, additions, take } = scene();
  take(0);
  for (let index = 1; index < 100; index += 1) {
    additions.refused(index);
    await additions.pump();
    expect(additions.progress.except.length).toBeLessThanOrEqual(3);
  }
  expect(sent).toEqual(["p0"]);
});

test("an import killed after any step, and started again, leaves nobody out of the list and takes no refused row in", async () => {
  const isRefused = (at: number): boolean => at % 7 === 3;
  const rows = Array.from({ length: 130 }, (_, at) => ({
    email: `p${at}@example.com`,
    // As a program without types may.
    ...(isRefused(at) && { name: 7 as unknown as string }),
  }));
  const never = new Promise<never>(() => undefined);
  const wanted = rows.flatMap(({ email }, at) => (isRefused(at) ? [] : [email])).sort();
  for (let killAfter = 1; killAfter < 160; killAfter += 3) {
    let stored: string | undefined;
    const members = new Set<string>();
    // One that always dies in its first steps would never end.
    for (let isDone = false, life = killAfter; !isDone; life += 10) {
      let steps = life;
      const alive = async (): Promise<void> => (steps-- > 0 ? undefined : never);
      const importing = importContacts(
        rows,
        {
          concurrency: 2,
          addToList: "l1",
          checkpoint: {
            load: async () => stored && JSON.parse(stored),
            save: async (state) => {
              await alive();
              stored = JSON.stringify(state);
            },
          },
        },
        {
          apiKey: () => "key",
          call: scriptedCall(
            new FakeClock(),
            emptyWorkspace(
              async () => {
                await alive();
                return "created";
              },
              async (emails) => {
                await alive();
                for (const email of emails) members.add(email);
              },
            ),
          ),
        },
      );
      importing.then(() => {
        isDone = true;
      });
      for (let turns = 0; turns < 6 && !isDone; turns += 1) await turn();
      steps = 0;
    }
    expect([...members].sort()).toEqual(wanted);
  }
});
