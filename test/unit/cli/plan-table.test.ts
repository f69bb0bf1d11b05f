import { expect, test } from "vitest";
import { planTable } from "../../../src/cli/plan-table.ts";
import type { PlannedRow } from "../../../src/index.ts";

test("a plan is counted by result, field and reason, with the first five rows of each", () => {
  const rows: PlannedRow[] = [
    ...Array.from({ length: 1_200 }, (_, index) => ({
      ...{ index, line: index + 2, email: `ada${index}@example.com`, result: "update" as const },
      fields: index % 2 === 0 ? ["name", "title"] : ["name"],
    })),
    { index: 1_200, line: 1_202, email: "grace@example.com", result: "create" },
    { index: 1_201, line: 1_203, result: "refused", reason: "email: must be an email address" },
    { index: 1_202, line: 1_204, email: "same@example.com", result: "unchanged" },
  ];
  expect(planTable(rows)).toBe(
    [
      "Create         1",
      "Update     1,200  (name 1,200, title 600)",
      "Unchanged      1",
      "Skip           0",
      "Refuse         1  (email: must be an email address 1)",
      "",
      "Create",
      "  line 1202  grace@example.com",
      "",
      "Update",
      "  line 2     ada0@example.com  name, title",
      "  line 3     ada1@example.com  name",
      "  line 4     ada2@example.com  name, title",
      "  line 5     ada3@example.com  name",
      "  line 6     ada4@example.com  name, title",
      "  … and 1,195 more; --json lists every row",
      "",
      "Refuse",
      "  line 1203  (no address)  email: must be an email address",
      "",
    ].join("\n"),
  );
});

test("a plan without rows is a table of zeros", () => {
  expect(planTable([])).toBe("Create     0\nUpdate     0\nUnchanged  0\nSkip       0\nRefuse     0\n");
});
