import { randomUUID } from "node:crypto";
import { ConfigurationError } from "../errors.ts";
import { checkSettling } from "../ledger/check-settling.ts";
import type { Claim, Ledger, SettleDetails, Settlement } from "../ledger/ledger.ts";
import { unknownKeys } from "../options/validation.ts";
import { type RedisCommands, script } from "./commands.ts";

// A client that loses its connection sends a command again that Redis may have run: every script knows its own work.

const getScript = script("return redis.call('GET', KEYS[1])");

/** Answers the entry under the key, which is the claim's own where the key was free. */
const claimScript = script(`
local text = redis.call('GET', KEYS[1])
if text and cjson.decode(text).state ~= 'free' then return text end
local time = redis.call('TIME')
local since = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
text = cjson.encode({ state = 'pending', claim = ARGV[1], fingerprint = ARGV[2], since = since })
redis.call('SET', KEYS[1], text)
return text
`);

/** A freed key stays for ten minutes, so that the same settlement sent again finds what it did. */
const settleScript = script(`
local text = redis.call('GET', KEYS[1])
if not text then return 0 end
local entry = cjson.decode(text)
if entry.settled == ARGV[4] then return 1 end
if entry.state == 'free' or entry.state == 'sent' or entry.claim ~= ARGV[2] then return 0 end
entry.settled = ARGV[4]
if ARGV[1] == 'not-sent' then
  redis.call('SET', KEYS[1], cjson.encode({ state = 'free', settled = ARGV[4] }), 'PX', 600000)
else
  entry.state = ARGV[1]
  if ARGV[3] ~= '' then entry.receipt = ARGV[3] end
  redis.call('SET', KEYS[1], cjson.encode(entry))
end
return 1
`);

interface Entry {
  readonly state: "pending" | "unknown" | "sent";
  readonly claim: string;
  readonly fingerprint: string;
  readonly since: number;
  /** JSON in JSON: what Redis would make of empty arrays and long numbers is not the service's answer. */
  readonly receipt?: string;
}

// Written by the scripts above and nobody else.
const entryOf = (text: unknown): Entry => JSON.parse(String(text)) as Entry;

/** How the ledger names its keys. */
export interface RedisLedgerOptions {
  /** Comes before every key. Default `touchpoint:sent:`. */
  readonly prefix?: string;
}

class RedisLedger implements Ledger {
  readonly #redis: RedisCommands;
  readonly #prefix: string;

  constructor(redis: RedisCommands, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async claim(key: string, fingerprint: string): Promise<Claim> {
    const claim = randomUUID();
    try {
      const entry = entryOf(await claimScript(this.#redis, [this.#prefix + key], [claim, fingerprint]));
      if (entry.claim === claim) return { state: "claimed", claim };
      const { state, fingerprint: under, since, receipt } = entry;
      return state === "sent"
        ? { state, fingerprint: under, receipt: receipt === undefined ? undefined : JSON.parse(receipt) }
        : { state, fingerprint: under, since };
    } catch (error) {
      // Redis may have the claim all the same; nothing was sent under it.
      this.settle(key, "not-sent", { claim }).catch(() => undefined);
      throw error;
    }
  }

  async settle(key: string, settlement: Settlement, details?: SettleDetails): Promise<boolean> {
    const { claim, receipt } = details ?? {};
    checkSettling(key, settlement, { claim, receipt });
    const keys = [this.#prefix + key];
    // Named even by hand: sent again, a settlement must not meet the claim of whoever came next.
    const under = claim ?? (await this.#claimUnder(keys));
    if (under === undefined) return false;
    const text = receipt === undefined ? "" : JSON.stringify(receipt);
    return (await settleScript(this.#redis, keys, [settlement, under, text, randomUUID()])) === 1;
  }

  async #claimUnder(keys: readonly string[]): Promise<string | undefined> {
    const text = await getScript(this.#redis, keys, []);
    return typeof text === "string" ? entryOf(text).claim : undefined;
  }
}

/**
 * A send-once ledger that any number of processes share, as durable as the Redis behind it: what its persistence or a
 * failover loses is not known any more. Keys never expire by themselves.
 *
 * @param redis - an ioredis client, version 5 or 6; it stays the caller's to close.
 * @throws ConfigurationError naming every fault of the arguments at once.
 */
export const redisLedger = (redis: RedisCommands, options?: RedisLedgerOptions): Ledger => {
  // A caller without types may give null, which stands for none, or no object at all.
  const given: RedisLedgerOptions = options ?? {};
  const faults: string[] = [];
  if (typeof redis?.evalsha !== "function" || typeof redis.eval !== "function")
    faults.push("redis must be an ioredis client");
  if (typeof given !== "object") faults.push("the options must be an object");
  else faults.push(...unknownKeys(given, ["prefix"]));
  const { prefix = "touchpoint:sent:" } = given;
  if (typeof prefix !== "string") faults.push("prefix must be a string");
  if (faults.length > 0) throw new ConfigurationError(`redisLedger: ${faults.join("; ")}`);
  return new RedisLedger(redis, prefix);
};
