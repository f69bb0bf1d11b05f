import type { FileHandle } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, isTouchpointError } from "../errors.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { messageOf } from "../runtime/values.ts";
import type { JournalFile, Kept } from "./journal-file.ts";
import type {
  ClaimDetails,
  Ledger,
  LedgerClaim,
  LedgerFilter,
  LedgerRow,
  SettleDetails,
  Settlement,
  TakenKey,
} from "./ledger.ts";
import {
  aged,
  checkKey,
  checkSettling,
  claimDetails,
  listFilter,
  rowOf,
  type Settling,
  settling,
} from "./rules.ts";

/** What the record of a claimed key contains. */
interface Change extends Settling {
  readonly receipt?: unknown;
}

/** A ledger in a file, for the processes of one machine. */
class FileLedger implements Ledger {
  readonly #path: string;
  readonly #clock: Pick<Clock, "wallTime">;
  #journal: JournalFile | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, clock: Pick<Clock, "wallTime">) {
    this.#path = path;
    this.#clock = clock;
  }

  async claim(key: string, fingerprint: string, details?: Partial<ClaimDetails>): Promise<LedgerClaim> {
    const claim = crypto.randomUUID();
    const claimed = await this.#inTurn(true, async (journal, file): Promise<LedgerClaim | undefined> => {
      const taken = await journal.read(file, key);
      if (taken !== undefined) return this.#known(taken);
      const since = this.#clock.wallTime();
      const line = { key, fingerprint, ...claimDetails(details), since, seen: journal.seen, claim };
      try {
        // No email may be sent before the claim would survive a power cut.
        if (await journal.append(file, line)) return { state: "claimed", claim };
      } catch (error) {
        // The line may be in the file; but no email was sent under it.
        const settle = crypto.randomUUID();
        await journal.append(file, { key, as: "not-sent", claim, settle }).catch(() => undefined);
        throw error;
      }
      // Another process claimed it first.
      const first = await journal.read(file, key);
      return first && this.#known(first);
    });
    // The other caller claimed the key first, and has freed it since.
    return claimed ?? this.claim(key, fingerprint, details);
  }

  async read(key: string): Promise<TakenKey | undefined> {
    checkKey("get", key);
    const kept = await this.#inTurn(false, (journal, file) => journal.read(file, key));
    return kept && this.#known(kept);
  }

  async settle(key: string, as: Settlement, details?: SettleDetails): Promise<boolean> {
    const { claim, force, receipt } = details ?? {};
    checkSettling(key, as, { claim, force, receipt });
    return this.#change(
      (journal, file) => journal.read(file, key),
      (kept) => {
        const how = settling(kept, as, { claim, force, now: this.#clock.wallTime() });
        return how && { ...how, receipt };
      },
    );
  }

  async settleScheduled(id: string, as: "not-sent" | "unknown"): Promise<boolean> {
    return this.#change(
      (journal, file) => journal.readScheduled(file, id),
      () => ({ as, over: true }),
    );
  }

  async release(key: string): Promise<boolean> {
    checkKey("release", key);
    return this.#change(
      (journal, file) => journal.read(file, key),
      () => ({ as: "not-sent", over: true }),
    );
  }

  async get(key: string): Promise<LedgerRow | undefined> {
    const known = await this.read(key);
    return known && rowOf(key, known);
  }

  async *list(filter?: LedgerFilter): AsyncGenerator<LedgerRow> {
    const passes = listFilter(filter);
    const isHeld = async (key: string, at: number): Promise<boolean> =>
      (await this.#inTurn(false, async (journal) => journal.find(key)?.claimAt)) === at;
    try {
      const { newestFirst } = await import("./newest-first.ts");
      for await (const stored of newestFirst(this.#path, isHeld)) {
        const row = rowOf(stored.key, this.#known(stored));
        if (passes(row)) yield row;
      }
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async #change(
    find: (journal: JournalFile, file: FileHandle) => Promise<Kept | undefined>,
    decide: (kept: Kept) => Change | undefined,
  ): Promise<boolean> {
    const isChanged = await this.#inTurn(false, async (journal, file) => {
      const kept = await find(journal, file);
      const change = kept && decide(kept);
      if (kept === undefined || change === undefined || (kept.state === "sent" && !change.over)) return false;
      const { key, claim, operation } = kept;
      return journal.append(file, {
        key,
        ...change,
        claim,
        operation,
        seen: journal.seen,
        settle: crypto.randomUUID(),
      });
    });
    return isChanged ?? false;
  }

  #known(kept: Kept): TakenKey {
    return aged(kept, this.#clock.wallTime());
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
 * @throws ConfigurationError for an empty path. Its methods throw it when the file cannot be read or written, or was
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
  if (typeof path !== "string" || path === "")
    throw new ConfigurationError("fileLedger: path must be a string that is not empty");
  return new FileLedger(resolve(path), clock);
};
