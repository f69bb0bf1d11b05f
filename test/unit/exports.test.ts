import { expect, test } from "vitest";
import * as errors from "../../src/errors.ts";
import * as root from "../../src/index.ts";

test("at run time the root has the client, the errors, the ledgers, and the schemas that a user validates with", () => {
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
