import { randomUUID } from "node:crypto";
import { ConfigurationError } from "../errors.ts";
import type { Ledger, LedgerLog } from "../ledger/ledger.ts";
import { type Adapter, AdapterFault, type KeyStore, ledgerOver } from "../ledger/ledger-over.ts";
import { type LedgerEntry, scheduledIdOf } from "../ledger/rules.ts";
import { mustBeBoolean, mustBeString, refuseSetup, ruleFaults } from "../runtime/rules.ts";
import { clientFaults, nodesOf, type RedisCommands } from "./commands.ts";
import { faultOf, withAdvice } from "./fault.ts";
import {
  claimScript,
  echoScript,
  entryOf,
  getScript,
  readScript,
  scanScript,
  setScript,
  settleScript,
} from "./ledger-scripts.ts";
import { mustReply, partsOf, textOf } from "./replies.ts";

/** Options of a ledger in Redis. */
export interface RedisLedgerOptions {
  /** The prefix of every key. Default `touchpoint:sent:`. */
  readonly prefix?: string;
  /**
   * Accepts a Redis that evicts keys when its memory is full. With evicted keys, the ledger forgets sent emails, which
   * may then be sent again. Default false: with such a Redis, a claim throws a ConfigurationError, and nothing is sent.
   */
  readonly allowEviction?: boolean;
}

// The beginning of the keys that map a scheduled email's id to its ledger key. list() skips these keys.
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

type Script = (redis: RedisCommands, keys: readonly string[], values: readonly string[]) => Promise<unknown>;

const withLedgerAdvice = <Answer>(command: Promise<Answer>): Promise<Answer> =>
  withAdvice("the ledger", command);

const adapter: Adapter = {
  name: "redisLedger",
  rule: mustReply,
  isRefusal: ({ cause }) => faultOf(cause).isLasting,
};

/** Refuses a Redis that evicts keys. @param onUnknown - called with the reason if Redis does not report its policy. */
const checkEviction = async (redis: RedisCommands, onUnknown: (cause: string) => void): Promise<void> => {
  try {
    const policies = await Promise.all((await nodesOf(redis)).map(evictionOf));
    const policy = policies.find((one) => one !== undefined);
    if (policy !== undefined)
      throw new AdapterFault(
        `redisLedger: Redis evicts keys (maxmemory-policy ${policy}), so sent emails could be sent again: ` +
          "set maxmemory-policy noeviction, use a Redis that keeps its keys, or pass allowEviction: true",
      );
  } catch (error) {
    const fault = faultOf(error);
    if (error instanceof ConfigurationError || !(fault.isReply || error instanceof TypeError)) throw error;
    onUnknown(`Redis ${fault.what}`);
  }
};

/** The keys of a ledger in Redis. @param check - called before each claim. */
const redisKeys = (redis: RedisCommands, prefix: string, check: () => Promise<void>): KeyStore => {
  const run = (script: Script, key: string, ...values: readonly string[]): Promise<unknown> =>
    withLedgerAdvice(script(redis, [prefix + key], values));

  const find = async (key: string): Promise<LedgerEntry | undefined> => {
    const [now, text] = partsOf(await run(readScript, key));
    return entryOf(key, textOf(text), now);
  };

  return {
    find,
    claim: async ({ key, claim, fingerprint, operation, limitMs }) => {
      await withLedgerAdvice(check());
      return textOf(await run(claimScript, key, claim, fingerprint, operation, `${limitMs}`)) === "1";
    },
    findScheduled: async (id) => {
      const key = textOf(await run(getScript, scheduledMark + id));
      const entry = key === undefined ? undefined : await find(key);
      return entry && scheduledIdOf(entry.operation, entry.receipt) === id ? entry : undefined;
    },
    settle: async (key, claim, { as, over, receipt }) => {
      // Read the entry only if there is a receipt, because each command can fail on a broken connection.
      const entry = receipt === undefined ? undefined : await find(key);
      const id = scheduledIdOf(entry?.operation, receipt);
      // Write the key for the email's id before the receipt, so that a cancel finds the ledger key of every stored
      // receipt.
      if (id !== undefined) await run(setScript, scheduledMark + id, key);
      const text = receipt === undefined ? "" : JSON.stringify(receipt);
      return textOf(await run(settleScript, key, as, claim, text, randomUUID(), over ? "1" : "")) === "1";
    },
    async *all() {
      // SCAN ignores the prefix that a client adds to keys (ioredis: keyPrefix).
      const fullPrefix = String(await run(echoScript, ""));
      const pattern = `${fullPrefix.replace(/[*?[\]\\]/g, "\\$&")}*`;
      for (const node of await withLedgerAdvice(nodesOf(redis))) {
        // SCAN may return a key twice.
        const done = new Set<string>();
        for (let cursor: string | undefined = "0"; cursor !== undefined; ) {
          const page: unknown = await withLedgerAdvice(scanScript(node, [], [cursor, pattern]));
          const [next, now, ...entries] = partsOf(page);
          for (let index = 0; index < entries.length; index += 2) {
            const key = String(entries[index]).slice(fullPrefix.length);
            if (key.startsWith(scheduledMark) || done.has(key)) continue;
            done.add(key);
            const entry = entryOf(key, textOf(entries[index + 1]), now);
            if (entry !== undefined) yield entry;
          }
          cursor = textOf(next) === "0" ? undefined : textOf(next);
        }
      }
    },
  };
};

/**
 * A send-once ledger that any number of processes share. The ledger is as durable as Redis: it forgets keys that Redis
 * loses in an eviction or a failover. Keys do not expire.
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
  const faults = ruleFaults(options, { prefix: mustBeString, allowEviction: mustBeBoolean });
  refuseSetup("redisLedger", [...clientFaults(redis), ...faults]);
  const { prefix = "touchpoint:sent:", allowEviction = false } = options ?? {};
  let log: LedgerLog | undefined;
  let isChecked = allowEviction;
  const check = async (): Promise<void> => {
    if (isChecked) return;
    await checkEviction(redis, (cause) => {
      if (!isChecked)
        log?.warn("redisLedger cannot check whether Redis evicts keys (INFO memory)", { cause });
    });
    isChecked = true;
  };
  return {
    ...ledgerOver(redisKeys(redis, prefix, check), adapter),
    attach: (clientLog) => {
      log = clientLog;
    },
  };
};
