import { expect, test } from "vitest";
import { isSendRefused, refusedStages } from "../../../src/index.ts";

test("an email is refused to the five stages of the document, and to no other", () => {
  expect(refusedStages).toEqual(["REPLIED", "BOUNCED", "UNSUBSCRIBED", "CONVERTED", "DEAD"]);
  expect(refusedStages.filter((stage) => !isSendRefused({ stage }))).toEqual([]);
  expect(["NEW", "replied", ""].filter((stage) => isSendRefused({ stage }))).toEqual([]);
});

test("an email to an address without a contact is refused for no stage", () => {
  expect([isSendRefused(null), isSendRefused(undefined)]).toEqual([false, false]);
});
