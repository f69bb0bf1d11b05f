import { expect, test } from "vitest";
import { contactCells } from "../../../src/cli/contact-cells.ts";
import { exportSettings } from "../../../src/cli/export-settings.ts";

test("a CSV export without --columns has every documented field, and the custom ones in one column", () => {
  const { columns } = exportSettings({ values: { out: "all.csv" } });
  expect(columns).toContain("customFields");
  expect(columns).toHaveLength(17);
});

test("an NDJSON export has no columns, and given ones stand", () => {
  expect(exportSettings({ values: { out: "all.ndjson" } }).columns).toBeUndefined();
  expect(exportSettings({ values: { out: "all.csv", columns: "email,name" } }).columns).toEqual([
    "email",
    "name",
  ]);
});

test("the column of custom fields is read back as what it was", () => {
  const cast = contactCells([]);
  const place = { column: "customFields", line: 2, file: "all.csv" };
  expect(cast('{"plan":"pro","seats":4}', place as never)).toEqual({ plan: "pro", seats: 4 });
});
