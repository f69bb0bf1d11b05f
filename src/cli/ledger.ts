import { existsSync } from "node:fs";
import type { Ledger, LedgerRow } from "../index.ts";
import { asUsage, type CliCommand, exitCode, print, type Request, UsageError } from "./command.ts";
import { shellWord, visible } from "./terminal.ts";

/** Opens the ledger that the first operand names. A missing file is a typing error, not an empty ledger. */
const ledgerOf = async ({ operands }: Request): Promise<Ledger> => {
  const [path = ""] = operands;
  if (!existsSync(path)) throw new UsageError(`there is no file ${path}`);
  const { fileLedger } = await import("../index.ts");
  return fileLedger(path);
};

const timeOf = ({ since }: LedgerRow): string => new Date(since).toISOString();

const idIn = (receipt: unknown): string => {
  const { id }: { id?: unknown } = Object(receipt);
  return typeof id === "string" ? id : "";
};

const lineOf = (row: LedgerRow): string =>
  `${timeOf(row)}  ${row.state.padEnd(7)}  ${[row.key, idIn(row.receipt)].map(visible).join("  ").trimEnd()}\n`;

const json = { "--json": "print JSON, including the receipts" };

export const ledgerList: CliCommand = {
  name: "ledger list",
  about: "Lists the used send-once keys of a ledger file, newest first.",
  example: "touchpoint ledger list sent.ledger --state unknown",
  operands: ["<file>"],
  options: {
    "--state <state>": "only pending, unknown or sent",
    "--since <time>": "only keys claimed since a date (2026-03-02) or a time (2026-03-02T07:00:00Z)",
    ...json,
  },
  run: async (request) => {
    const state = request.values.state;
    if (state !== undefined && state !== "pending" && state !== "unknown" && state !== "sent")
      throw new UsageError(`--state must be pending, unknown or sent, got "${state}"`);
    const ledger = await ledgerOf(request);
    for await (const row of ledger.list({ state, since: request.values.since })) {
      request.interrupt.throwIfAborted();
      await print(request, row, lineOf(row));
    }
    return exitCode.ok;
  },
};

const meaning: Readonly<Record<LedgerRow["state"], string>> = {
  pending:
    "A process is sending this email now. If that process has died, the state changes to unknown when the attempt times out.",
  unknown:
    "The request got no clear response, or its process died. The email may or may not have gone out.\n" +
    "Look for it in the sent folder of the mail account, or among the scheduled emails.",
  sent: "The email went out, or is scheduled. A call with this key returns the receipt and sends nothing.",
};

const nextSteps = (file: string, { key, state }: LedgerRow): string => {
  // Without `--`, parseArgs reads an argument that starts with a dash as an option.
  const optionsEnd = [file, key].some((word) => word.startsWith("-")) ? "-- " : "";
  const settle = `touchpoint ledger settle ${optionsEnd}${shellWord(file)} ${shellWord(key)}`;
  if (state === "sent")
    return `${settle} not-sent\n  if its scheduled email was canceled: frees the key, and the next call with it sends. Add --release to free the key in any case.\n`;
  if (state === "pending") return `Look again later. While the email is being sent, settle needs --force.\n`;
  return (
    `${settle} sent\n  if you found the email: no call with this key sends it again.\n` +
    `${settle} not-sent\n  if you are sure that the email did not go out: frees the key, and the next call with it sends.\n`
  );
};

const described = (file: string, row: LedgerRow): string => {
  const receipt = row.receipt === undefined ? "none" : JSON.stringify(row.receipt, undefined, 2);
  const claimed = `${visible(row.key)}: ${row.state}, claimed ${timeOf(row)}`;
  return [claimed, meaning[row.state], `Receipt: ${receipt}`, nextSteps(file, row)].join("\n\n");
};

export const ledgerShow: CliCommand = {
  name: "ledger show",
  about: "Shows what a ledger file stores about a key, what to check, and which command to run next.",
  example: "touchpoint ledger show sent.ledger welcome:42",
  operands: ["<file>", "<key>"],
  options: json,
  run: async (request) => {
    const [file = "", key = ""] = request.operands;
    const row = await (await ledgerOf(request)).get(key);
    await print(
      request,
      row ?? null,
      row === undefined ? `${visible(key)} is free: a call with it sends.\n` : described(file, row),
    );
    return exitCode.ok;
  },
};

export const ledgerSettle: CliCommand = {
  name: "ledger settle",
  about:
    "Records by hand whether the email of a key was sent.\n" +
    "sent: calls with the key send nothing. not-sent: the key becomes free, and the next call with it sends.",
  example: "touchpoint ledger settle sent.ledger welcome:42 not-sent",
  operands: ["<file>", "<key>", "<sent|not-sent>"],
  options: {
    "--release":
      "with not-sent: free the key even if its email was sent. The next call with the key then sends the email again",
    "--force":
      "settle the key even if a process is sending its email now. If you use it with not-sent, the email can go out twice",
  },
  run: async (request) => {
    const [, key = "", settlement] = request.operands;
    if (settlement !== "sent" && settlement !== "not-sent")
      throw new UsageError(`the last argument must be sent or not-sent, got "${settlement}"`);
    const isRelease = request.flags.has("release");
    if (isRelease && settlement === "sent") throw new UsageError("--release works only with not-sent");
    const ledger = await ledgerOf(request);
    const isDone = isRelease
      ? await ledger.release(key)
      : await ledger.settle(key, settlement, { force: request.flags.has("force") });
    if (isDone) {
      await request.stdout.write(`${visible(key)}: ${settlement === "sent" ? "sent" : "free"}\n`);
      return exitCode.ok;
    }
    const row = await ledger.get(key);
    const why =
      row === undefined
        ? "is free"
        : row.state === "pending"
          ? "is being sent now (--force settles it)"
          : `is already ${row.state} (not-sent --release frees it)`;
    request.stderr.write(`touchpoint: nothing was changed: ${visible(key)} ${why}\n`);
    return exitCode.failed;
  },
  afterInterrupt: "To see whether the key was settled, run `touchpoint ledger show`.",
};

export const ledgerMigration: CliCommand = {
  name: "ledger migration",
  about:
    "Prints the SQL that creates the tables of sqlLimits, sqlLedger and sqlCheckpoint. You can run that SQL more than once.",
  example: "touchpoint ledger migration postgres",
  operands: ["<postgres|sqlite>"],
  options: {
    "--limits <table>":
      "the table of sqlLimits (touchpoint_limits); if you name a table, only the tables that you name are created",
    "--ledger <table>": "the table of sqlLedger (touchpoint_ledger)",
    "--checkpoint <table>": "the table of sqlCheckpoint (touchpoint_checkpoint)",
  },
  run: async (request) => {
    const [dialect] = request.operands;
    if (dialect !== "postgres" && dialect !== "sqlite")
      throw new UsageError(`the argument must be postgres or sqlite, got "${dialect}"`);
    const { migration } = await import("../sql/index.ts");
    const { limits, ledger, checkpoint } = request.values;
    const isNamed = [limits, ledger, checkpoint].some((table) => table !== undefined);
    await request.stdout.write(
      asUsage(() => migration(dialect, isNamed ? { limits, ledger, checkpoint } : undefined)),
    );
    return exitCode.ok;
  },
};
