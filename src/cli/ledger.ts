import { existsSync } from "node:fs";
import type { Ledger, LedgerRow } from "../index.ts";
import { asUsage, type CliCommand, countOf, exitCode, print, type Request, UsageError } from "./command.ts";
import { shellWord, visible } from "./terminal.ts";

/** The ledger of the first operand. A missing file is a typing error, not an empty ledger. */
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

const json = { "--json": "JSON, receipts included" };

export const ledgerList: CliCommand = {
  name: "ledger list",
  about: "Lists the used send-once keys of a ledger file, newest first.",
  example: "touchpoint ledger list sent.ledger --state unknown",
  operands: ["<file>"],
  options: {
    "--state <state>": "only pending, unknown or sent",
    "--since <time>": "only keys claimed since 2026-03-02, or 2026-03-02T07:00:00Z",
    "--limit <n>": "the maximum number of keys",
    ...json,
  },
  run: async (request) => {
    const state = request.values.state;
    if (state !== undefined && state !== "pending" && state !== "unknown" && state !== "sent")
      throw new UsageError(`--state must be pending, unknown or sent, got "${state}"`);
    const limit = countOf(request, "limit", { least: 1, most: 1e9 }) ?? Number.POSITIVE_INFINITY;
    const ledger = await ledgerOf(request);
    let listed = 0;
    for await (const row of ledger.list({ state, since: request.values.since })) {
      request.interrupt.throwIfAborted();
      await print(request, row, lineOf(row));
      listed += 1;
      if (listed >= limit) break;
    }
    return exitCode.ok;
  },
};

const meaning: Readonly<Record<LedgerRow["state"], string>> = {
  pending:
    "A process is sending this email now. If that process has died, the state changes to unknown when the attempt times out.",
  unknown:
    "It was sent or cancelled without a clear response, or its process died: the email may have gone out.\n" +
    "Look for it in the sent folder of the mail account, or among the scheduled emails.",
  sent: "The email went out, or is scheduled. A call with this key returns the receipt and sends nothing.",
};

const answers = (file: string, { key, state }: LedgerRow): string => {
  // Without `--`, an argument that starts with a dash is an option.
  const end = [file, key].some((word) => word.startsWith("-")) ? "-- " : "";
  const settle = `touchpoint ledger settle ${end}${shellWord(file)} ${shellWord(key)}`;
  if (state === "sent")
    return `${settle} not-sent\n  frees the key if its scheduled email was canceled: the next call with the key sends. Add --release to free this key in any case.\n`;
  if (state === "pending") return `Look again later. settle needs --force while it is being sent.\n`;
  return (
    `${settle} sent\n  you found it: a call with this key sends nothing, now and later.\n` +
    `${settle} not-sent\n  you are sure that it did not go out: the key is free, and the next call with it sends.\n`
  );
};

const described = (file: string, row: LedgerRow): string => {
  const receipt = row.receipt === undefined ? "none" : JSON.stringify(row.receipt, undefined, 2);
  const claimed = `${visible(row.key)}: ${row.state}, claimed ${timeOf(row)}`;
  return [claimed, meaning[row.state], `Receipt: ${receipt}`, answers(file, row)].join("\n\n");
};

export const ledgerShow: CliCommand = {
  name: "ledger show",
  about: "Shows what a ledger file knows about a key, what to look up, and what each result means.",
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
    "Records by hand what happened to the email of a key.\n" +
    "sent: calls with the key send nothing. not-sent: the key is free, and the next call with it sends.",
  example: "touchpoint ledger settle sent.ledger welcome:42 not-sent",
  operands: ["<file>", "<key>", "<sent|not-sent>"],
  options: {
    "--release": "with not-sent: also frees a key whose email was sent",
    "--force": "also settles a key that a process is sending now",
  },
  run: async (request) => {
    const [, key = "", settlement] = request.operands;
    if (settlement !== "sent" && settlement !== "not-sent")
      throw new UsageError(`give sent or not-sent, got "${settlement}"`);
    const isRelease = request.flags.has("release");
    if (isRelease && settlement === "sent") throw new UsageError("--release goes with not-sent");
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
          : `was ${row.state} already (not-sent --release frees it)`;
    request.stderr.write(`touchpoint: nothing was changed: ${visible(key)} ${why}\n`);
    return exitCode.failed;
  },
  afterInterrupt: "Look with `touchpoint ledger show` whether the key was settled.",
};

export const ledgerMigration: CliCommand = {
  name: "ledger migration",
  about:
    "Prints the SQL that creates the tables of sqlLimits, sqlLedger and sqlCheckpoint. You can run that SQL more than once.",
  example: "touchpoint ledger migration postgres",
  operands: ["<postgres|sqlite>"],
  options: {
    "--limits <table>": "only this table, and the others that you name",
    "--ledger <table>": "only this table, and the others that you name",
    "--checkpoint <table>": "only this table, and the others that you name",
  },
  run: async (request) => {
    const [dialect] = request.operands;
    if (dialect !== "postgres" && dialect !== "sqlite")
      throw new UsageError(`give postgres or sqlite, got "${dialect}"`);
    const { migration } = await import("../sql/index.ts");
    const { limits, ledger, checkpoint } = request.values;
    const isNamed = [limits, ledger, checkpoint].some((table) => table !== undefined);
    await request.stdout.write(
      asUsage(() => migration(dialect, isNamed ? { limits, ledger, checkpoint } : undefined)),
    );
    return exitCode.ok;
  },
};
