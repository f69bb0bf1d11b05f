import { expect, test } from "vitest";
import { importContacts } from "../../../src/bulk/import.ts";
import { addToList, type ListOf } from "../../../src/bulk/list-additions.ts";
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

const scene = () => {
  const sent: string[] = [];
  const refused: unknown[] = [];
  const list: ListOf = {
    signal: undefined,
    add: async (emails) => {
      if (emails.some((email) => /^bad/i.test(email))) throw refusal;
      sent.push(emails.join());
    },
    onRefused: async ({ index, item }) => void refused.push([index, item.email]),
  };
  const add = (...emails: readonly string[]) =>
    addToList(
      emails.map((email, index) => ({ index, item: { email } })),
      list,
    );
  return { sent, refused, add };
};

test("an address that the list refuses keeps no other out, and is told once a row", async () => {
  const { sent, refused, add } = scene();
  await add("a", "b", "bad1", "c", "BAD1", "d", "bad2", "e");
  expect([sent.join().split(",").sort(), refused]).toEqual([
    ["a", "b", "c", "d", "e"],
    [
      [2, "bad1"],
      [4, "BAD1"],
      [6, "bad2"],
    ],
  ]);
});

test("a list that is not there ends the run", async () => {
  const gone: ListOf = {
    signal: undefined,
    add: () => Promise.reject(failure(404)),
    onRefused: () => Promise.reject(new Error("must not be told")),
  };
  await expect(addToList([{ index: 0, item: { email: "a" } }], gone)).rejects.toThrow("no: 404");
});

test("an address that comes twice, in any case of letters, is sent once, and no address sends nothing", async () => {
  const { sent, add } = scene();
  await add("a", "A", "b");
  await add();
  expect(sent).toEqual(["A,b"]);
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
        scriptedCall(
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
