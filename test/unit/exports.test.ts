import { expect, test } from "vitest";
import * as errors from "../../src/errors.ts";
import * as root from "../../src/index.ts";

test("the root exports the client, the errors, the ledgers, and the schemas for your own checks", () => {
  const inputs = ["Company", "Contact", "Email", "Event", "List", "ScheduledEmail"].map(
    (name) => `${name}Input`,
  );
  const patches = ["CompanyPatch", "ContactPatch", "ScheduledEmailPatch"];
  const records = ["Company", "Contact", "ScheduledEmail"];
  const functions = ["fileLedger", "isSendRefused", "memoryLedger", "mockResponse", "refusedStages"];
  expect(Object.keys(root).sort()).toEqual(
    ["Client", ...Object.keys(errors), ...functions, ...inputs, ...patches, ...records].sort(),
  );
});
