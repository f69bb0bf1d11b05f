import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, isTouchpointError } from "../errors.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { mustBeText, refuseSetup } from "../runtime/rules.ts";
import { messageOf } from "../runtime/values.ts";
import type { JournalFile } from "./journal-file.ts";
import type { Ledger } from "./ledger.ts";
import { type KeyStore, ledgerOver } from "./ledger-over.ts";
import { entryAt } from "./memory-ledger.ts";
import { mustBeClock, type Stored, settled } from "./rules.ts";

/** The key store of a ledger in a file, for the processes of one machine. */
const fileKeys = (path: string, clock: Pick<Clock, "wallTime">): KeyStore => {
  let opened: JournalFile | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs the uses of the file one after the other. Returns undefined if there is no file and `create` is false. */
  const inTurn = <T>(
    create: boolean,
    work: (journal: JournalFile, file: FileHandle) => Promise<T>,
  ): Promise<T | undefined> => {
    const turn = last.then(async () => {
      try {
        // Load the code for files with the first use, not with the package.
        const { JournalFile } = await import("./journal-file.ts");
        opened ??= new JournalFile(path);
        const journal = opened;
        return await journal.use((file) => work(journal, file), { create });
      } catch (cause) {
        if (isTouchpointError(cause)) throw cause;
        throw new ConfigurationError(`ledger ${path} cannot be used: ${messageOf(cause)}`, { cause });
      }
    });
    last = turn.catch(() => undefined);
    return turn;
  };

  const lookUp = async (find: (keys: JournalFile["keys"]) => Stored | undefined) =>
    entryAt(await inTurn(false, async ({ keys }) => find(keys)), clock.wallTime());

  const settle: KeyStore["settle"] = async (key, claim, settling) => {
    const isSettled = await inTurn(false, async (journal, file) => {
      const stored = journal.keys.find(key);
      if (stored?.claim !== claim || settled(stored.state, settling) === undefined) return false;
      return journal.append(file, {
        key,
        ...settling,
        claim,
        seen: journal.seen,
        settle: crypto.randomUUID(),
      });
    });
    return isSettled ?? false;
  };

  return {
    claim: async ({ claim, ...details }) => {
      const { key } = details;
      try {
        const isFirst = await inTurn(true, async (journal, file) => {
          if (journal.keys.find(key) !== undefined) return false;
          // `append` resolves only when the claim would survive a power cut, so no email is sent before that.
          return journal.append(file, { ...details, since: clock.wallTime(), seen: journal.seen, claim });
        });
        return isFirst ?? false;
      } catch (error) {
        // The claim may be in the file despite the error. Release it before the error is thrown, because the process
        // may end after the error.
        await settle(key, claim, { as: "not-sent" }).catch(() => undefined);
        throw error;
      }
    },
    find: (key) => lookUp((keys) => keys.find(key)),
    findScheduled: (id) => lookUp((keys) => keys.findScheduled(id)),
    settle,
    async *all() {
      let listedFrom = Number.POSITIVE_INFINITY;
      if (opened === undefined) {
        const { newestKeys } = await import("./journal-file.ts");
        for (const entry of await newestKeys(path)) {
          listedFrom = entry.offset;
          yield entryAt(entry, clock.wallTime());
        }
      }
      const entries = await inTurn(false, async ({ keys }) => keys.newestFirst());
      for (const entry of entries ?? [])
        if (entry.offset < listedFrom) yield entryAt(entry, clock.wallTime());
    },
  };
};

/**
 * Stores send-once keys in a file that any number of processes on one machine can share. A key is on disk before its
 * email is sent, and stays there with its receipt. There are no locks, so a killed process doesn't block other
 * processes.
 *
 * The file only grows. The ledger refuses a damaged line, and the error names the number of that line. A process that
 * has read the file also refuses a truncated or replaced file, because keys would be lost. A process that starts later
 * cannot recognize that the end is missing. The file contains receipts with addresses, and only its owner can read it.
 * Do not put it on a network file system without atomic appends.
 *
 * @param path - the path of the file, relative to the current working directory.
 * @throws ConfigurationError for wrong arguments. The methods throw it when the file cannot be read or written, or when
 * another program has changed it.
 * @example
 * ```ts
 * import { Client, fileLedger } from "touchpoint-sdk";
 *
 * await using sender = new Client({ ledger: fileLedger("sent.ledger") });
 * const email = { to: "ada@example.com", subject: "Welcome", text: "Good to have you." };
 * await sender.emails.send(email, { once: "welcome:42" });
 * ```
 */
export const fileLedger = (path: string, clock: Pick<Clock, "wallTime"> = systemClock): Ledger => {
  refuseSetup("fileLedger", [...mustBeText(path, "path"), ...mustBeClock(clock, "clock")]);
  return ledgerOver(fileKeys(resolve(path), clock));
};
