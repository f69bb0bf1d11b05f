import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, isTouchpointError } from "../errors.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { isText, refuseSetup } from "../runtime/rules.ts";
import { messageOf } from "../runtime/values.ts";
import type { JournalFile } from "./journal-file.ts";
import type { Ledger } from "./ledger.ts";
import { type Claiming, type KeyStore, ledgerOver } from "./ledger-over.ts";
import { foundAt } from "./memory-ledger.ts";
import { type Found, isClock, type Settling } from "./rules.ts";

/** The keys of a ledger in a file, for the processes of one machine. */
class FileKeys implements KeyStore {
  readonly #path: string;
  readonly #clock: Pick<Clock, "wallTime">;
  #journal: JournalFile | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, clock: Pick<Clock, "wallTime">) {
    this.#path = path;
    this.#clock = clock;
  }

  async claim({ claim, ...of }: Claiming): Promise<boolean> {
    const { key } = of;
    try {
      const isFirst = await this.#inTurn(true, async (journal, file) => {
        if (journal.keys.find(key) !== undefined) return false;
        // No email may be sent before the claim would survive a power cut.
        return journal.append(file, { ...of, since: this.#clock.wallTime(), seen: journal.seen, claim });
      });
      return isFirst ?? false;
    } catch (error) {
      // The line may be in the file. Awaited: the process may end after the error.
      await this.settle(key, claim, { as: "not-sent" }).catch(() => undefined);
      throw error;
    }
  }

  async find(key: string): Promise<Found | undefined> {
    return foundAt(await this.#inTurn(false, async ({ keys }) => keys.find(key)), this.#clock.wallTime());
  }

  async findScheduled(id: string): Promise<Found | undefined> {
    const entry = await this.#inTurn(false, async ({ keys }) => keys.findScheduled(id));
    return foundAt(entry, this.#clock.wallTime());
  }

  async settle(key: string, claim: string, settling: Settling): Promise<boolean> {
    const isSettled = await this.#inTurn(false, async (journal, file) => {
      const stored = journal.keys.find(key);
      if (stored?.claim !== claim || (stored.state === "sent" && !settling.over)) return false;
      const { operation } = stored;
      const settle = crypto.randomUUID();
      return journal.append(file, { key, ...settling, claim, operation, seen: journal.seen, settle });
    });
    return isSettled ?? false;
  }

  async *all(): AsyncGenerator<Found> {
    let before = Number.POSITIVE_INFINITY;
    if (this.#journal === undefined) {
      const { newestKeys } = await import("./journal-file.ts");
      for (const entry of await newestKeys(this.#path)) {
        before = entry.at;
        yield foundAt(entry, this.#clock.wallTime());
      }
    }
    const entries = await this.#inTurn(false, async ({ keys }) => keys.newestFirst());
    for (const entry of entries ?? []) if (entry.at < before) yield foundAt(entry, this.#clock.wallTime());
  }

  /** Runs uses one after the other. Undefined if there is no file and none is to be created. */
  #inTurn<T>(
    create: boolean,
    work: (journal: JournalFile, file: FileHandle) => Promise<T>,
  ): Promise<T | undefined> {
    const turn = this.#last.then(async () => {
      try {
        // Code for files loads with the first use, not with the package.
        const { JournalFile } = await import("./journal-file.ts");
        this.#journal ??= new JournalFile(this.#path);
        const journal = this.#journal;
        return await journal.use((file) => work(journal, file), { create });
      } catch (error) {
        throw this.#failed(error);
      }
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  #failed(cause: unknown): Error {
    if (isTouchpointError(cause)) return cause;
    return new ConfigurationError(`ledger ${this.#path} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Keeps send-once keys in a file that any number of processes on one machine can share. A key is on disk before its email
 * is sent. It stays there with its receipt. There are no locks, so a killed process blocks no other.
 *
 * The file only grows. A truncated, replaced or damaged file is refused with the line, because it would forget keys. The
 * file contains receipts with addresses, and only its owner can read it. Do not put it on a network file system without
 * atomic appends.
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
  return ledgerOver(new FileKeys(resolve(path), clock));
};
