import { expect, test } from "vitest";
import { migration } from "../../../src/sql/index.ts";

// D1's `exec` runs each line as a statement.
test.each(["postgres", "sqlite"] as const)(
  "a migration for %s has a whole statement in each line",
  (dialect) => {
    const lines = migration(dialect).trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/ IF NOT EXISTS.*/, ""))).toEqual([
      "CREATE TABLE",
      "CREATE TABLE",
      "CREATE INDEX",
      "CREATE INDEX",
      "CREATE TABLE",
    ]);
    expect(lines.every((line) => line.endsWith(");"))).toBe(true);
  },
);
