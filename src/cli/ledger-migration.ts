import { type CliCommand, exitCode, textOf, UsageError } from "./command.ts";

/** `touchpoint ledger migration`. */
export const ledgerMigration: CliCommand = {
  name: "ledger migration",
  about:
    "Prints the SQL that creates the tables of sqlLedger and sqlCheckpoint. Run again, it changes nothing.",
  example: "touchpoint ledger migration postgres",
  operands: ["<postgres|sqlite>"],
  options: {
    "--ledger <table>": "only this table, and that of --checkpoint if given",
    "--checkpoint <table>": "only this table, and that of --ledger if given",
  },
  run: async (request) => {
    const [dialect] = request.operands;
    if (dialect !== "postgres" && dialect !== "sqlite")
      throw new UsageError(`give postgres or sqlite, got "${dialect}"`);
    const { migration } = await import("../sql/index.ts");
    const [ledger, checkpoint] = [textOf(request, "ledger"), textOf(request, "checkpoint")];
    const isNamed = ledger !== undefined || checkpoint !== undefined;
    request.stdout.write(migration(dialect, isNamed ? { ledger, checkpoint } : undefined));
    return exitCode.ok;
  },
  afterInterrupt: () => "Nothing was changed.",
};
