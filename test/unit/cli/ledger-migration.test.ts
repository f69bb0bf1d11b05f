import { expect, test } from "vitest";
import { run } from "../../../src/cli/run.ts";
import { migration } from "../../../src/sql/index.ts";

const printed = async (
  ...argv: readonly string[]
): Promise<readonly [code: number, out: string, err: string]> => {
  let [out, err] = ["", ""];
  const code = await run(["ledger", "migration", ...argv], {
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    interrupt: new AbortController().signal,
    now: () => 0,
  } as Parameters<typeof run>[1]);
  return [code, out, err];
};

test("the migration is printed for both tables, or for those that are named", async () => {
  expect(await printed("postgres")).toEqual([0, migration("postgres"), ""]);
  const named = migration("sqlite", { ledger: "once_keys" });
  expect(await printed("sqlite", "--ledger", "once_keys")).toEqual([0, named, ""]);
  expect(named).toContain("CREATE TABLE IF NOT EXISTS once_keys (");
  expect(named).not.toContain("checkpoint");
});

test("any other dialect is wrong usage", async () => {
  const [code, out, err] = await printed("mysql");
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain('the argument must be postgres or sqlite, got "mysql"');
});
