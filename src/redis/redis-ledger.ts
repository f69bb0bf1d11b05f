import { randomUUID } from "node:crypto";
import { ConfigurationError } from "../errors.ts";
import type { Ledger, LedgerLog } from "../ledger/ledger.ts";
import { type Claiming, type KeyStore, ledgerOver } from "../ledger/ledger-over.ts";
import { type Found, type Settling, scheduledIdOf } from "../ledger/rules.ts";
import { isFlag, isString, refuseSetup, ruleFaults } from "../runtime/rules.ts";
import { clientFaults, nodesOf, type RedisCommands } from "./commands.ts";
import { asked, faultOf } from "./fault.ts";
import {
  claimScript,
  echoScript,
  foundOf,
  getScript,
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

/** The keys of a ledger in Redis. */
class RedisKeys implements KeyStore {
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

  async claim({ key, claim, fingerprint, operation, limitMs }: Claiming): Promise<boolean> {
    if (!this.#isChecked) await asked(ledger, this.#check());
    const values = [claim, fingerprint, operation, `${limitMs}`];
    return (await asked(ledger, claimScript(this.#redis, [this.#prefix + key], values))) === 1;
  }

  async find(key: string): Promise<Found | undefined> {
    // As readScript returns it.
    const [now, text] = (await asked(ledger, readScript(this.#redis, [this.#prefix + key], []))) as unknown[];
    return typeof text === "string" ? foundOf(key, text, now) : undefined;
  }

  async findScheduled(id: string): Promise<Found | undefined> {
    const key = await asked(ledger, getScript(this.#redis, [this.#prefix + scheduledMark + id], []));
    const found = typeof key === "string" ? await this.find(key) : undefined;
    return found && scheduledIdOf(found.operation, found.receipt) === id ? found : undefined;
  }

  async settle(key: string, claim: string, { as, over, receipt }: Settling): Promise<boolean> {
    // Without a receipt, nothing is read: a connection that breaks has one command less to lose.
    const found = receipt === undefined ? undefined : await this.find(key);
    const id = scheduledIdOf(found?.operation, receipt);
    // Written before the receipt, so that a cancel finds the key of every stored receipt.
    if (id !== undefined)
      await asked(ledger, setScript(this.#redis, [this.#prefix + scheduledMark + id], [key]));
    const text = receipt === undefined ? "" : JSON.stringify(receipt);
    const values = [as, claim, text, randomUUID(), over ? "1" : ""];
    return (await asked(ledger, settleScript(this.#redis, [this.#prefix + key], values))) === 1;
  }

  async *all(): AsyncGenerator<Found> {
    // SCAN ignores the prefix that a client adds to keys (ioredis: keyPrefix).
    const prefix = String(await asked(ledger, echoScript(this.#redis, [this.#prefix], [])));
    const pattern = `${prefix.replace(/[*?[\]\\]/g, "\\$&")}*`;
    for (const node of await asked(ledger, nodesOf(this.#redis))) {
      // SCAN may return a key twice.
      const done = new Set<string>();
      for (let cursor: string | undefined = "0"; cursor !== undefined; ) {
        // As scanScript returns it.
        const [next = "0", now, ...entries] = (await asked(
          ledger,
          scanScript(node, [], [cursor, pattern]),
        )) as string[];
        for (let at = 0; at < entries.length; at += 2) {
          const key = String(entries[at]).slice(prefix.length);
          if (key.startsWith(scheduledMark) || done.has(key)) continue;
          done.add(key);
          const found = foundOf(key, entries[at + 1], now);
          if (found !== undefined) yield found;
        }
        cursor = next === "0" ? undefined : next;
      }
    }
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
  const faults = ruleFaults(options, { prefix: isString, allowEviction: isFlag });
  refuseSetup("redisLedger", [...clientFaults(redis), ...faults]);
  const { prefix = "touchpoint:sent:", allowEviction = false } = options ?? {};
  const keys = new RedisKeys(redis, prefix, allowEviction);
  return { ...ledgerOver(keys), attach: (log) => keys.attach(log) };
};
