import { expect, test } from "vitest";
import { importContacts } from "../../../src/bulk/import.ts";
import type { RejectedContact } from "../../../src/bulk/import-options.ts";
import { ApiError } from "../../../src/errors.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { emptyWorkspace } from "../../support/import-context.ts";
import { scriptedCall } from "../../support/scripted-call.ts";

const failure = (status: number) =>
  new ApiError(`no: ${status}`, {
    ...{ operation: "lists.addContacts", outcome: "not-applied" as const, status },
    ...{ headers: new Headers(), body: undefined },
  });

/** Imports addresses into a list that refuses some, and returns what each request added and what was told. */
const listed = async (emails: readonly string[], refuses: (email: string) => Error | undefined) => {
  const clock = new FakeClock();
  const sent: (readonly string[])[] = [];
  const refused: unknown[] = [];
  const answering = emptyWorkspace(
    async () => "created",
    async (addresses) => {
      for (const error of addresses.map(refuses)) if (error !== undefined) throw error;
      sent.push(addresses);
    },
  );
  const onRejected = ({ index, email, error }: RejectedContact) => void refused.push([index, email, error]);
  const rows = emails.map((email) => ({ email }));
  const options = { addToList: "l1", onRejected };
  await clock.until(importContacts(rows, options, scriptedCall(clock, answering)));
  return { sent, refused };
};

test("an address that the list refuses keeps no other out, and is told once a row", async () => {
  const emails = ["a@x.co", "b@x.co", "bad1@x.co", "c@x.co", "BAD1@x.co", "d@x.co", "bad2@x.co", "e@x.co"];
  const { sent, refused } = await listed(emails, (email) => (/^bad/i.test(email) ? failure(400) : undefined));
  expect(sent.flat().sort()).toEqual(["a@x.co", "b@x.co", "c@x.co", "d@x.co", "e@x.co"]);
  const error = "not added to the list: no: 400";
  expect(refused).toEqual([2, 4, 6].map((index) => [index, emails[index], error]));
});

test("a list that is not there ends the run", async () => {
  await expect(listed(["a@x.co"], () => failure(404))).rejects.toThrow("no: 404");
});

test("an import sends an address once, whatever its case, and sends nothing without addresses", async () => {
  const { sent } = await listed(["a@x.co", "A@x.co", "b@x.co"], () => undefined);
  expect(sent).toEqual([["A@x.co", "b@x.co"]]);
  const refusing = await listed(["no address"], () => failure(404));
  expect(refusing).toMatchObject({
    sent: [],
    refused: [[0, "no address", expect.stringContaining("email")]],
  });
});

test("an import that is killed and restarted adds every accepted row to the list, and no refused one", async () => {
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
