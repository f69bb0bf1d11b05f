import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Fault } from "../../../src/sandbox/index.ts";
import type { GatewayProgram } from "./gateway.ts";
import { openWalk } from "./walk.ts";

type Answer = readonly [error: string, status: number | undefined];

/** What a gateway answers to an email in each case. */
export interface Answers {
  /** The service reset the connection, with the request applied or not. */
  readonly lost: Answer;
  readonly refused: Answer;
  readonly stalled: Answer;
  /** To a response of the service that breaks off; by default the part is passed on. */
  readonly cut?: readonly Answer[];
  /** To a body of 200 kB, over the limit where the gateway keeps one. */
  readonly large: Answer;
}

const cut: Answer = ["ConnectionError", undefined];

const cases = (answers: Answers): readonly [string, Fault, readonly Answer[], number][] => [
  ["a lost response", "reset-after-apply", [answers.lost], 1],
  ["a connection lost before the service did anything", "reset-before", [answers.lost], 0],
  ["a service that stalls", "stall-after-apply", [answers.stalled], 1],
  ["a response that breaks off", "truncate", answers.cut ?? [cut], 1],
  ["a 503 with a time", { status: 503, retryAfter: 0.1 }, [["ServiceUnavailableError", 503]], 0],
];

/** Sends emails through a gateway, under everything that can happen between it and its neighbors. */
export const walkBehind = (program: GatewayProgram, answers: Answers): void => {
  let walk: Awaited<ReturnType<typeof openWalk>>;
  beforeAll(async () => {
    walk = await openWalk(program);
    console.log(`${program.name} ${walk.gateway.version}`);
  });
  afterAll(() => walk.close());

  describe(`behind ${program.name}`, () => {
    test.each(cases(answers))(
      "%s: one request, and an unknown outcome",
      async (_what, fault, allowed, emails) => {
        const { result, status, outcome, requests, emails: out } = await walk.under(fault);
        expect(allowed).toContainEqual([result, status]);
        expect({ outcome, requests, emails: out }).toEqual({ outcome: "unknown", requests: 1, emails });
      },
    );

    test("a 429 with a time is waited out, and the email goes out once", async () => {
      const found = await walk.under({ status: 429, retryAfter: 0.1 });
      expect(found).toMatchObject({ result: "sent", requests: 2, emails: 1 });
    });

    test("a body over its limit", async () => {
      const { result, status, outcome, emails } = await walk.send(walk.newClient(), {
        text: "x".repeat(200_000),
      });
      const isSent = answers.large[0] === "sent";
      expect([result, status]).toEqual(answers.large);
      expect([outcome, emails]).toEqual([
        isSent ? undefined : answers.large[1] === 413 ? "not-applied" : "unknown",
        isSent ? 1 : 0,
      ]);
    });

    test("no email is lost at the edge of its idle time-out: 200 rounds", async () => {
      const rounds = Array.from({ length: 50 }, async (_none, at) => {
        const client = walk.newClient();
        const results: string[] = [];
        for (let round = 0; round < 4; round += 1) {
          await client.contacts.list({ limit: 1 });
          // Its idle time-out, which only the gateway's own clock ends, give or take 30 ms.
          await new Promise((resolve) => setTimeout(resolve, 970 + ((at * 4 + round) % 60)));
          const { result, emails } = await walk.send(client);
          results.push(`${result}, ${emails}`);
        }
        return results;
      });
      expect(new Set((await Promise.all(rounds)).flat())).toEqual(new Set(["sent, 1"]));
    });

    test("while it reloads, an email goes out once, or its error says that it may have", async () => {
      let isRunning = true;
      const findings: string[] = [];
      const senders = Array.from({ length: 8 }, async () => {
        const client = walk.newClient();
        while (isRunning) {
          const { result, outcome, emails } = await walk.send(client);
          const isTrue =
            result === "sent" ? emails === 1 : emails === 0 || (emails === 1 && outcome === "unknown");
          findings.push(isTrue ? "true" : `${result}, ${outcome}, ${emails}`);
        }
      });
      const reached = (count: number) => () => findings.length >= count;
      for (const count of [50, 100]) {
        await waitUntil(reached(count));
        await walk.gateway.reload();
      }
      await waitUntil(reached(250));
      isRunning = false;
      await Promise.all(senders);
      expect(new Set(findings)).toEqual(new Set(["true"]));
    });

    test("a service that is down", async () => {
      await walk.server.close();
      const { result, status, outcome, requests, message } = await walk.send(walk.newClient());
      expect({ answer: [result, status], outcome, requests }).toEqual({
        answer: answers.refused,
        outcome: "unknown",
        requests: 0,
      });
      expect(message).toContain("It may have been applied: check before sending it again.");
    });
  });
};

/** Resolves in a turn of the event loop in which the condition holds. */
const waitUntil = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
};
