import { randomUUID } from "node:crypto";
import { ConfigurationError } from "../errors.ts";
import type {
  ClaimDetails,
  Ledger,
  LedgerClaim,
  LedgerFilter,
  LedgerLog,
  LedgerRow,
  SettleDetails,
  Settlement,
  TakenKey,
} from "../ledger/ledger.ts";
import {
  aged,
  checkKey,
  checkSettling,
  claimDetails,
  listFilter,
  rowOf,
  type Settling,
  type Stored,
  scheduledIdOf,
  settling,
} from "../ledger/rules.ts";
import { unknownKeys } from "../runtime/values.ts";
import { clientFaults, nodesOf, type RedisCommands } from "./commands.ts";
import { asked, faultOf } from "./fault.ts";
import {
  claimScript,
  echoScript,
  entryOf,
  getScript,
  type ReadEntry,
  readScript,
  scanScript,
  setScript,
  settleScript,
} from "./ledger-scripts.ts";

/** How the ledger names its keys. */
export interface RedisLedgerOptions {
  /** Prefix of every key. Default `touchpoint:sent:`. */
  readonly prefix?: string;
  /**
   * Accepts a Redis that evicts keys when its memory is full. The ledger then forgets sent emails, and they may be sent
   * again. Default false: a claim throws a ConfigurationError, and nothing is sent.
   */
  readonly allowEviction?: boolean;
}

/** How to settle a claimed key. */
interface Change extends Settling {
  readonly receipt?: unknown;
}

/** A key that is not free, and the time of Redis when it was read. */
interface ReadKey {
  readonly stored: Stored;
  readonly now: number;
}

const readKey = ({ state, receipt, now, ...rest }: ReadEntry): ReadKey | undefined => {
  if (state === "free") return undefined;
  return {
    stored: { ...rest, state, receipt: receipt === undefined ? undefined : JSON.parse(receipt) },
    now,
  };
};

const known = ({ stored, now }: ReadKey): TakenKey => aged(stored, now);

/** What Redis stores, for error messages. */
const ledger = "the ledger";

// Starts the keys that lead from a scheduled email's id to its ledger key. list() skips them.
const scheduledMark = "\0scheduled:";

const fieldOf = (info: string, field: string): string | undefined =>
  new RegExp(`^${field}:(.*?)\r?$`, "m").exec(info)?.[1];

/** The policy by which a node evicts keys when its memory is full; undefined if it evicts none. */
const evictionOf = async (node: RedisCommands): Promise<string | undefined> => {
  const info = String(await node.info?.("memory"));
  const policy = fieldOf(info, "maxmemory_policy");
  if (policy === undefined) throw new TypeError("INFO memory has no maxmemory_policy");
  return policy === "noeviction" || fieldOf(info, "maxmemory") === "0" ? undefined : policy;
};

class RedisLedger implements Ledger {
  readonly #redis: RedisCommands;
  readonly #prefix: string;
  #log: LedgerLog | undefined;
  /** Whether the eviction check is done, or not wanted. */
  #isChecked: boolean;

  constructor(redis: RedisCommands, prefix: string, allowEviction: boolean) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#isChecked = allowEviction;
  }

  attach(log: LedgerLog): void {
    this.#log = log;
  }

  async #check(): Promise<void> {
    try {
      const policies = await Promise.all((await nodesOf(this.#redis)).map(evictionOf));
      const policy = policies.find((one) => one !== undefined);
      if (policy !== undefined)
        throw new ConfigurationError(
          `redisLedger: Redis evicts keys (maxmemory-policy ${policy}), so sent emails could be sent again: ` +
            "set maxmemory-policy noeviction, use a Redis that keeps its keys, or pass allowEviction: true",
        );
    } catch (error) {
      const fault = faultOf(error);
      if (error instanceof ConfigurationError || !(fault.isReply || error instanceof TypeError)) throw error;
      const cause = `Redis ${fault.what}`;
      if (!this.#isChecked)
        this.#log?.warn("redisLedger cannot check whether Redis evicts keys (INFO memory)", { cause });
    }
    this.#isChecked = true;
  }

  async claim(key: string, fingerprint: string, details?: Partial<ClaimDetails>): Promise<LedgerClaim> {
    const claim = randomUUID();
    const { operation, limitMs } = claimDetails(details);
    const values = [claim, fingerprint, operation, `${limitMs}`];
    try {
      if (!this.#isChecked) await this.#check();
      // As claimScript returns it.
      const [now, text] = (await claimScript(this.#redis, [this.#prefix + key], values)) as unknown[];
      const entry = readKey(entryOf(text, now));
      if (entry === undefined) throw new TypeError("claimScript returned a free key");
      return entry.stored.claim === claim ? { state: "claimed", claim } : known(entry);
    } catch (error) {
      // Redis may have stored the claim anyway; nothing was sent under it.
      this.settle(key, "not-sent", { claim }).catch(() => undefined);
      if (error instanceof ConfigurationError) throw error;
      return asked(ledger, Promise.reject(error));
    }
  }

  async read(key: string): Promise<TakenKey | undefined> {
    checkKey("get", key);
    const entry = await this.#entry(key);
    return entry && known(entry);
  }

  async settle(key: string, as: Settlement, details?: SettleDetails): Promise<boolean> {
    const { claim, force, receipt } = details ?? {};
    checkSettling(key, as, { claim, force, receipt });
    // Not read first: the claim says enough, and a connection that breaks has one command less to lose.
    if (claim !== undefined && receipt === undefined) return this.#write(key, claim, { as });
    return this.#change(key, ({ stored, now }) => {
      const how = settling(stored, as, { claim, force, now });
      return how && { ...how, receipt };
    });
  }

  async settleScheduled(id: string, as: "not-sent" | "unknown"): Promise<boolean> {
    const key = await asked(ledger, getScript(this.#redis, [this.#prefix + scheduledMark + id], []));
    if (typeof key !== "string") return false;
    return this.#change(key, ({ stored: { operation, receipt } }) =>
      scheduledIdOf(operation, receipt) === id ? { as, over: true } : undefined,
    );
  }

  async release(key: string): Promise<boolean> {
    checkKey("release", key);
    return this.#change(key, () => ({ as: "not-sent", over: true }));
  }

  async get(key: string): Promise<LedgerRow | undefined> {
    const entry = await this.read(key);
    return entry && rowOf(key, entry);
  }

  async *list(filter?: LedgerFilter): AsyncGenerator<LedgerRow> {
    const passes = listFilter(filter);
    // SCAN ignores the prefix that a client adds to keys (ioredis: keyPrefix).
    const prefix = String(await asked(ledger, echoScript(this.#redis, [this.#prefix], [])));
    const pattern = `${prefix.replace(/[*?[\]\\]/g, "\\$&")}*`;
    for (const node of await asked(ledger, nodesOf(this.#redis))) {
      // SCAN may return a key twice.
      const done = new Set<string>();
      for (let cursor: string | undefined = "0"; cursor !== undefined; ) {
        // As scanScript returns it.
        const [next = "0", now, ...found] = (await asked(
          ledger,
          scanScript(node, [], [cursor, pattern]),
        )) as string[];
        for (let at = 0; at < found.length; at += 2) {
          const key = String(found[at]).slice(prefix.length);
          if (key.startsWith(scheduledMark) || done.has(key)) continue;
          done.add(key);
          const entry = readKey(entryOf(found[at + 1], now));
          const row = entry && rowOf(key, known(entry));
          if (row !== undefined && passes(row)) yield row;
        }
        cursor = next === "0" ? undefined : next;
      }
    }
  }

  async #entry(key: string): Promise<ReadKey | undefined> {
    const reply = await asked(ledger, readScript(this.#redis, [this.#prefix + key], []));
    // As readScript returns it.
    const [now, text] = reply as unknown[];
    return typeof text === "string" ? readKey(entryOf(text, now)) : undefined;
  }

  /** Settles only the claim that it read: a resent settlement must not settle a later claim of another process. */
  async #change(key: string, decide: (read: ReadKey) => Change | undefined): Promise<boolean> {
    const entry = await this.#entry(key);
    const change = entry && decide(entry);
    if (entry === undefined || change === undefined) return false;
    const { operation, claim } = entry.stored;
    const id = scheduledIdOf(operation, change.receipt);
    // Written before the receipt, so that a cancel finds the key of every stored receipt.
    if (id !== undefined)
      await asked(ledger, setScript(this.#redis, [this.#prefix + scheduledMark + id], [key]));
    return this.#write(key, claim, change);
  }

  async #write(key: string, claim: string, { as, over, receipt }: Change): Promise<boolean> {
    const text = receipt === undefined ? "" : JSON.stringify(receipt);
    const values = [as, claim, text, randomUUID(), over ? "1" : ""];
    return (await asked(ledger, settleScript(this.#redis, [this.#prefix + key], values))) === 1;
  }
}

/**
 * A send-once ledger that any number of processes share. It is as durable as the Redis behind it: it forgets keys that
 * Redis loses in an eviction or a failover. Keys do not expire.
 *
 * @param redis - an ioredis or node-redis client, version 5 or 6; cluster clients work too. You close it yourself.
 * @throws ConfigurationError naming every fault of the arguments at once.
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { redisLedger } from "touchpoint-sdk/redis";
 *
 * await using sender = new Client({ ledger: redisLedger(redis) });
 * ```
 */
export const redisLedger = (redis: RedisCommands, options?: RedisLedgerOptions): Ledger => {
  // An untyped caller may pass null, which means no options, or something that is not an object.
  const given: RedisLedgerOptions = options ?? {};
  const faults = clientFaults(redis);
  if (typeof given !== "object") faults.push("the options must be an object");
  else faults.push(...unknownKeys(given, ["prefix", "allowEviction"]));
  const { prefix = "touchpoint:sent:", allowEviction = false } = given;
  if (typeof prefix !== "string") faults.push("prefix must be a string");
  if (typeof allowEviction !== "boolean") faults.push("allowEviction must be true or false");
  if (faults.length > 0) throw new ConfigurationError(`redisLedger: ${faults.join("; ")}`);
  return new RedisLedger(redis, prefix, allowEviction);
};
