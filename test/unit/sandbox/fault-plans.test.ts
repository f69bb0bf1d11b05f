import { expect, test } from "vitest";
import type { FaultOptions } from "../../../src/sandbox/index.ts";
import { open } from "./client.ts";
import { refusalOf } from "./refusal-of.ts";

const good = { with: "stall" };
const wrong: [plan: unknown, problem: string | RegExp][] = [
  [
    { ...good, operation: "contacts.lst" },
    /operation must be "\*", "contacts.create", .*, got "contacts.lst" \(did you mean "contacts.list"\?\)$/,
  ],
  [{ ...good, operation: "emails" }, /operation must be .*, got "emails" \(did you mean "emails.send"\?\)$/],
  [
    { ...good, operation: 5 },
    /operation must be "\*", "contacts.create", .* or "emails.scheduled.cancel", got 5$/,
  ],
  [
    { with: "reset-afterapply" },
    /with must be "reset-before", .*, got "reset-afterapply" \(did you mean "reset-after-apply"\?\)$/,
  ],
  [{ with: "toString" }, /with must be "reset-before", .* or "missing-fields", got "toString"$/],
  [{ nht: 2, with: "stall" }, 'there is no option "nht" (did you mean "nth"?)'],
  [{ nth: 2 }, "with must be the name of a fault, { status }, { items } or { delayMs }"],
  [{ with: null }, "with must be the name of a fault, { status }, { items } or { delayMs }"],
  [{ with: { delayMs: -1 } }, "with.delayMs must be a number of at least 0, got -1"],
  [{ with: { stauts: 500 } }, "with must be the name of a fault, { status }, { items } or { delayMs }"],
  [{ ...good, nth: 0 }, "nth must be a whole number of at least 1, got 0"],
  [{ ...good, times: 0.5 }, "times must be a whole number of at least 1, got 0.5"],
  [{ ...good, chance: 30 }, "chance must be a number from 0 to 1"],
  [{ with: { status: "500" } }, 'with.status must be a whole number from 200 to 599, got "500"'],
  [{ with: { status: 101 } }, "with.status must be a whole number from 200 to 599, got 101"],
  [
    { with: { status: 503, retryafter: 2 } },
    'with: there is no option "retryafter" (did you mean "retryAfter"?); the options are status, retryAfter, body, ',
  ],
  [{ with: { status: 503, retryAfter: -1 } }, "with.retryAfter must be a number of at least 0, got -1"],
  [{ with: { status: 503, headers: { a: 1 } } }, "with.headers.a must be a valid header value"],
  [{ with: { status: 500, applied: "yes" } }, 'with.applied must be true or false, got "yes"'],
  [
    { operation: "events.record", with: { items: [0] } },
    'with.items needs operation: "events.recordBatch", because only a batch has items',
  ],
  [{ with: { items: 1 } }, "with.items must be an array, got 1"],
  [{ with: { items: [-1] } }, "with.items[0] must be a whole number from 0 to 99, got -1"],
  [null, "with must be the name of a fault, { status }, { items } or { delayMs }"],
  [{ nth: 0, times: 0, with: "stal" }, /nth must .*; times must .*; with must .*, got "stal"/],
];

test.each(wrong)("the plan %j is refused when it is made", async (plan, problem) => {
  const { sandbox, call } = open();
  // What JavaScript lets through, and the types do not.
  const refusal = refusalOf(() => sandbox.fail(plan as FaultOptions));
  expect(refusal).toMatch(problem);
  expect((await call("GET", "/api/v1/contacts")).status).toBe(200);
});
