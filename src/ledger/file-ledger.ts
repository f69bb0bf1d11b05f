import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, isTouchpointError } from "../errors.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { isText, refuseSetup } from "../runtime/rules.ts";
import { messageOf } from "../runtime/values.ts";
import type { JournalFile } from "./journal-file.ts";
import type { Ledger } from "./ledger.ts";
import { type KeyStore, ledgerOver } from "./ledger-over.ts";
import { foundAt } from "./memory-ledger.ts";
import { isClock, type Stored, settled } from "./rules.ts";

/** The keys of a ledger in a file, for the processes of one machine. */
const fileKeys = (path: string, clock: Pick<Clock, "wallTime">): KeyStore => {
  let latest: JournalFile | undefined;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs uses one after the other. Undefined if there is no file and none is to be created. */
  const inTurn = <T>(
    create: boolean,
    work: (journal: JournalFile, file: FileHandle) => Promise<T>,
  ): Promise<T | undefined> => {
    const turn = last.then(async () => {
      try {
        // Code for files loads with the first use, not with the package.
        const { JournalFile } = await import("./journal-file.ts");
        latest ??= new JournalFile(path);
        const journal = latest;
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
    foundAt(await inTurn(false, async ({ keys }) => find(keys)), clock.wallTime());

  const settle: KeyStore["settle"] = async (key, claim, settling) => {
    const isSettled = await inTurn(false, async (journal, file) => {
      const stored = journal.keys.find(key);
      if (stored?.claim !== claim || settled(stored.state, settling) === undefined) return false;
      const settle = crypto.randomUUID();
      return journal.append(file, { key, ...settling, claim, seen: journal.seen, settle });
    });
    return isSettled ?? false;
  };

  return {
    claim: async ({ claim, ...of }) => {
      const { key } = of;
      try {
        const isFirst = await inTurn(true, async (journal, file) => {
          if (journal.keys.find(key) !== undefined) return false;
          // No email may be sent before the claim would survive a power cut.
          return journal.append(file, { ...of, since: clock.wallTime(), seen: journal.seen, claim });
        });
        return isFirst ?? false;
      } catch (error) {
        // The line may be in the file. Awaited: the process may end after the error.
        await settle(key, claim, { as: "not-sent" }).catch(() => undefined);
        throw error;
      }
    },
    find: (key) => lookUp((keys) => keys.find(key)),
    findScheduled: (id) => lookUp((keys) => keys.findScheduled(id)),
    settle,
    async *all() {
      let before = Number.POSITIVE_INFINITY;
      if (latest === undefined) {
        const { newestKeys } = await import("./journal-file.ts");
        for (const entry of await newestKeys(path)) {
          before = entry.at;
          yield foundAt(entry, clock.wallTime());
        }
      }
      const entries = await inTurn(false, async ({ keys }) => keys.newestFirst());
      for (const entry of entries ?? []) if (entry.at < before) yield foundAt(entry, clock.wallTime());
    },
  };
};

/**
 * Keeps send-once keys in a file that any number of processes on one machine can share. A key is on disk before its email
 * is sent. It stays there with its receipt. There are no locks, so a killed process blocks no other.
 *
 * The file only grows. A damaged line is refused with its number, and a process that has the file open also refuses one
 * that was truncated or replaced, because it would forget keys; a process that starts later cannot see that the end is
 * missing. The file contains receipts with addresses, and only its owner can read it. Do not put it on a network file
 * system without atomic appends.
 *
 * @param path - of the file, relative to the current working directory.
 * @throws ConfigurationError for wrong arguments. Its methods throw it when the file cannot be read or written, or was
 * changed by another program.
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
  refuseSetup("fileLedger", [...isText(path, "path"), ...isClock(clock, "clock")]);
  return ledgerOver(fileKeys(resolve(path), clock));
};
