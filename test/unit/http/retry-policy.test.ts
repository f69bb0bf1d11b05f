import { describe, expect, test } from "vitest";
import { backoffMs, judge, mayHaveTakenEffect, type Situation } from "../../../src/http/retry-policy.ts";
import type { AttemptFailure } from "../../../src/http/types.ts";
import type { ReplayClass } from "../../../src/service/define.ts";
import { operations } from "../../../src/service/operations.ts";
import { aFailure, anAnswer, aStatus } from "../../support/sending.ts";

const { contacts, emails } = operations;

const situation = (over: Partial<Situation> = {}): Situation => ({
  operation: contacts.update,
  replay: "idempotent",
  attempts: 1,
  canRenewKey: false,
  maxRetries: 4,
  maxRetryAfterMs: 60_000,
  random: 0.5,
  ...over,
});

/** A status whose response asks for a wait. */
const waiting = (status: number, ms: number): AttemptFailure =>
  aStatus(status, undefined, { "retry-after": `${ms / 1_000}` });

const repeatable: readonly ReplayClass[] = ["safe", "idempotent", "keyed"];

type Row = [string, AttemptFailure, "unclear" | "clear", "always" | "where harmless" | "no"];

/** Each failure, whether it may have been applied, and whether each kind of operation is repeated after it. */
const table: readonly Row[] = [
  ["connection refused", aFailure("connection", false), "clear", "always"],
  ["connection reset", aFailure("connection", true), "unclear", "where harmless"],
  ["time-out before sending", aFailure("timeout", false), "clear", "always"],
  ["time-out after sending", aFailure("timeout", true), "unclear", "where harmless"],
  ["broken success", aFailure("broken", true, anAnswer(200, "<html>")), "unclear", "where harmless"],
  ["too large", aFailure("too-large", true, anAnswer(200, "")), "unclear", "no"],
  ["redirect", aFailure("redirect", true, anAnswer(307, "")), "unclear", "no"],
  ["aborted", aFailure("aborted", false), "clear", "no"],
  ["refused by a test double", aFailure("unmocked", false), "clear", "no"],
  ["400", aStatus(400), "clear", "no"],
  ["401", aStatus(401), "clear", "no"],
  ["403", aStatus(403), "clear", "no"],
  ["404", aStatus(404), "clear", "no"],
  ["408", aStatus(408), "unclear", "where harmless"],
  ["409", aStatus(409), "clear", "no"],
  ["418", aStatus(418), "clear", "no"],
  ["425", aStatus(425), "clear", "always"],
  ["429", aStatus(429), "clear", "always"],
  ["421", aStatus(421), "clear", "no"],
  ["460", aStatus(460), "unclear", "where harmless"],
  ["499", aStatus(499), "unclear", "where harmless"],
  ["500", aStatus(500), "unclear", "where harmless"],
  ["502", aStatus(502), "unclear", "where harmless"],
  ["503", aStatus(503), "unclear", "where harmless"],
  ["504", aStatus(504), "unclear", "where harmless"],
  ...[501, 505, 506, 510, 511, 600, 999].map(
    (status): Row => [`${status}`, aStatus(status), "unclear", "no"],
  ),
  // Of network edges, such as Cloudflare's 520 to 530, and of gateways that write what no document lists.
  ...[507, 508, 509, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530, 544, 561, 598, 599].map(
    (status): Row => [`${status}`, aStatus(status), "unclear", "where harmless"],
  ),
];

describe("judge", () => {
  test.each(table)("%s", (_name, failure, effect, repeat) => {
    expect(mayHaveTakenEffect(contacts.update, failure)).toBe(effect === "unclear");
    const again = repeat === "no" ? undefined : 250;
    for (const replay of repeatable) expect(judge(failure, situation({ replay }))).toBe(again);
    const never = judge(failure, situation({ replay: "never" }));
    expect(never).toBe(repeat === "always" ? again : undefined);
  });

  test("repeats maxRetries times and no more", () => {
    const failure = aStatus(500);
    const waits = [1, 2, 3].map((attempts) => judge(failure, situation({ attempts, maxRetries: 2 })));
    expect(waits).toEqual([250, 500, undefined]);
    expect(judge(failure, situation({ maxRetries: 0 }))).toBeUndefined();
  });

  test("a 401 is repeated at once when a newer key can be had, whatever maxRetries says", () => {
    const failure = aStatus(401);
    const strict = situation({ replay: "never", maxRetries: 0, canRenewKey: true });
    expect(judge(failure, strict)).toBe(0);
  });

  test.each([429, 503])("a %i that names a time is waited out by its budget's pause", (status) => {
    expect(judge(waiting(status, 60_000), situation())).toBe(0);
    expect(judge(waiting(status, 60_001), situation())).toBeUndefined();
  });

  test.each([408, 425, 500, 502, 504, 522, 529])(
    "a %i that names a time is waited out by the call alone",
    (status) => {
      const named = judge(waiting(status, 7_000), situation());
      expect(named).toBe(7_000);
      expect(judge(waiting(status, 60_001), situation())).toBeUndefined();
    },
  );

  test("a Retry-After of nothing leaves the back-off", () => {
    expect(judge(waiting(429, 0), situation())).toBe(250);
  });

  test.each([emails.send, emails.schedule])("the service's own 502 on $id is a refusal", (operation) => {
    const refusal = aStatus(502, { error: "The account is disconnected." });
    expect(mayHaveTakenEffect(operation, refusal)).toBe(false);
    expect(judge(refusal, situation({ operation, replay: "never" }))).toBeUndefined();
  });

  test.each([
    ["HTML", "<html>Bad Gateway</html>"],
    ["a number in place of a sentence", { error: 502 }],
    ["a field beside the sentence", { error: "The account is disconnected.", statusCode: 502 }],
    ["JSON without its sentence", { message: "upstream" }],
    ["null", null],
    ["an empty body", ""],
  ])("a 502 on an email with %s comes from a proxy", (_name, body) => {
    expect(mayHaveTakenEffect(emails.send, aStatus(502, body))).toBe(true);
  });

  test.each(["Bad gateway of the mail account.", "The account has a bad gateway", "Time-out"])(
    "a sentence with a gateway's word is a proxy's: %s",
    (error) => {
      expect(mayHaveTakenEffect(emails.send, aStatus(502, { error }))).toBe(true);
    },
  );

  test("a 502 with a sentence is no refusal on anything but an email", () => {
    expect(mayHaveTakenEffect(contacts.create, aStatus(502, { error: "no" }))).toBe(true);
  });
});

describe("backoffMs", () => {
  test("is anything from nothing to a ceiling that doubles up to 8 s", () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 60].map((attempts) => backoffMs(attempts, 1));
    expect(ceilings).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(backoffMs(3, 0)).toBe(0);
    expect(backoffMs(3, 0.25)).toBe(500);
  });
});
