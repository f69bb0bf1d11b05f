import type { FileHandle } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { unknownKeys } from "../options/validation.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { checkSettling } from "./check-settling.ts";
import type { JournalFile } from "./journal-file.ts";
import type { Claim, Ledger, SettleDetails, Settlement } from "./ledger.ts";

/** How a ledger's file is kept. */
export interface FileLedgerOptions {
  /** Lines the file must have before it is worth shortening to one per key. Default 1,000. */
  readonly compactAfter?: number;
}

/** A ledger in a file, for the processes of one machine. */
class FileLedger implements Ledger {
  readonly #path: string;
  readonly #compactAfter: number;
  readonly #clock: Pick<Clock, "wallTime">;
  #file: Promise<JournalFile> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, compactAfter: number, clock: Pick<Clock, "wallTime">) {
    this.#path = path;
    this.#compactAfter = compactAfter;
    this.#clock = clock;
  }

  claim(key: string, fingerprint: string): Promise<Claim> {
    return this.#inTurn((ledger) =>
      ledger.use(async (file) => {
        const taken = ledger.journal.entries.look(key);
        if (taken !== undefined) return taken;
        const claim = crypto.randomUUID();
        const claiming = { key, fingerprint, claim, since: this.#clock.wallTime() };
        try {
          // Nobody may send before the claim would survive a power cut.
          if ((await ledger.append(file, claiming)).has(claim)) return { state: "claimed", claim };
        } catch (error) {
          // The line may stand there all the same; nothing was sent under it.
          const settle = crypto.randomUUID();
          await ledger.append(file, { settle, key, as: "not-sent", claim }).catch(() => undefined);
          throw error;
        }
        // Another process was first, or has sealed the file.
        return ledger.journal.entries.look(key);
      }),
    );
  }

  async settle(key: string, settlement: Settlement, details: SettleDetails = {}): Promise<boolean> {
    checkSettling(key, settlement, details);
    const { receipt, claim } = details;
    return this.#inTurn((ledger) =>
      ledger.use(async (file) => {
        if (!ledger.journal.entries.canSettle(key, claim)) return false;
        const settle = crypto.randomUUID();
        const effective = await ledger.append(file, { settle, key, as: settlement, claim, receipt });
        if (!effective.has(settle)) return undefined;
        await this.#compact(ledger, file);
        return true;
      }),
    );
  }

  /** One use after the other; one that a seal made void is done again. */
  async #inTurn<T>(work: (ledger: JournalFile) => Promise<T | undefined>): Promise<T> {
    const turn = this.#last.then(async () => {
      try {
        this.#file ??= this.#open();
        const ledger = await this.#file;
        let result = await work(ledger);
        while (result === undefined) result = await work(ledger);
        return result;
      } catch (cause) {
        this.#file = undefined;
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new ConfigurationError(`ledger ${this.#path} cannot be used: ${reason}`, { cause });
      }
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Loads what works on files with the first use, not with the package. */
  async #open(): Promise<JournalFile> {
    const [{ realpath }, { resolve }, { JournalFile }] = await Promise.all([
      import("node:fs/promises"),
      import("node:path"),
      import("./journal-file.ts"),
    ]);
    // Behind a link, the file itself is what gets replaced. One that is not there yet has no other name.
    return new JournalFile(await realpath(this.#path).catch(() => resolve(this.#path)));
  }

  async #compact(ledger: JournalFile, file: FileHandle): Promise<void> {
    if (!ledger.journal.isWorthCompacting(this.#compactAfter)) return;
    try {
      const { compact } = await import("./compact.ts");
      await compact(ledger, file);
    } catch {
      // What was settled is settled; a later settlement tries again.
      this.#file = undefined;
    }
  }
}

/**
 * Keeps send-once keys in a file, shared by any number of processes of one machine: a key is on disk before the email
 * leaves, and stays there for ever, with its receipt. Nothing is locked, so a process that is killed holds nobody up.
 *
 * The file holds the service's answers, addresses among them, and is readable for its owner only. A network file
 * system that does not keep appends of several machines apart is no place for it.
 *
 * @throws ConfigurationError naming every fault of the arguments at once; and from its methods when the file cannot be read or written, or is no ledger.
 */
export const fileLedger = (path: string, options?: FileLedgerOptions): Ledger => {
  const faults = typeof path === "string" && path !== "" ? [] : ["path must be a string that is not empty"];
  // A caller without types may give null, which stands for none, or no object at all.
  const given: FileLedgerOptions = options ?? {};
  if (typeof given !== "object") faults.push("the options must be an object");
  else faults.push(...unknownKeys(given, ["compactAfter"]));
  const { compactAfter = 1_000 } = given;
  if (!Number.isSafeInteger(compactAfter) || compactAfter < 1)
    faults.push("compactAfter must be a whole number of at least 1");
  if (faults.length > 0) throw new ConfigurationError(`fileLedger: ${faults.join("; ")}`);
  return new FileLedger(path, compactAfter, systemClock);
};
