import { describe, expect, test } from "vitest";
import { migration, type SqlQuery, sqlCheckpoint, sqlLedger } from "../../src/sql/index.ts";
import { runner } from "../../src/sql/query.ts";
import { sqlPlace } from "../../src/sql/sql-place.ts";
import { keepsTheRules } from "../support/ledger-rules.ts";
import { keepsThePlaceRules } from "../support/place-rules.ts";

interface Sqlite {
  exec(sql: string): void;
  prepare(sql: string): { all(...params: readonly (string | null)[]): object[] };
}
const dialect = "sqlite";

// The types of Node 20, which the library is written for, have no such module.
const { DatabaseSync } = process.getBuiltinModule("node:sqlite") as unknown as {
  readonly DatabaseSync: new (path: string) => Sqlite;
};

const open = (): SqlQuery => {
  const database = new DatabaseSync(":memory:");
  for (let run = 0; run < 2; run += 1) database.exec(migration(dialect));
  return (sql, params) => database.prepare(sql).all(...params);
};

describe("a ledger in SQLite", () => {
  keepsTheRules(() => sqlLedger(open(), { dialect }));
});

describe("limits in SQLite", () => {
  const query = open();
  keepsThePlaceRules(() => sqlPlace(runner(query, dialect, "the table", ""), "touchpoint_limits", dialect));
});

test("a checkpoint in SQLite is what was saved last", async () => {
  const store = sqlCheckpoint(open(), { dialect, id: "events" });
  const state = { version: 1, done: 3, last: "x" } as const;
  expect(await store.load()).toBeUndefined();
  await store.save({ ...state, done: 1 });
  await store.save(state);
  expect(await store.load()).toEqual(state);
});
