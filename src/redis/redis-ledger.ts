import { randomUUID } from "node:crypto";
import type { Claim, Ledger, SettleDetails, Settlement } from "../ledger/ledger.ts";
import { type RedisCommands, script } from "./commands.ts";

const claimScript = script(`
local entry = redis.call('GET', KEYS[1])
if entry then return entry end
local time = redis.call('TIME')
local since = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('SET', KEYS[1], cjson.encode({ state = 'pending', claim = ARGV[1], fingerprint = ARGV[2], since = since }))
return false
`);

const settleScript = script(`
local text = redis.call('GET', KEYS[1])
if not text then return 0 end
local entry = cjson.decode(text)
if entry.state == 'sent' or (ARGV[2] ~= '' and ARGV[2] ~= entry.claim) then return 0 end
if ARGV[1] == 'not-sent' then redis.call('DEL', KEYS[1])
else
  entry.state = ARGV[1]
  if ARGV[3] ~= '' then entry.receipt = ARGV[3] end
  redis.call('SET', KEYS[1], cjson.encode(entry))
end
return 1
`);

interface Entry {
  readonly state: "pending" | "unknown" | "sent";
  readonly fingerprint: string;
  readonly since: number;
  /** JSON in JSON: what Redis would make of empty arrays and long numbers is not the service's answer. */
  readonly receipt?: string;
}

/** How the ledger names its keys. */
export interface RedisLedgerOptions {
  /** Comes before every key. Default `touchpoint:sent:`. */
  readonly prefix?: string;
}

/**
 * A send-once ledger that any number of processes share, as durable as the Redis behind it: what its persistence or a
 * failover loses is not known any more. Keys never expire by themselves.
 *
 * @param redis - an ioredis client, version 5 or 6; it stays the caller's to close.
 */
export const redisLedger = (
  redis: RedisCommands,
  { prefix = "touchpoint:sent:" }: RedisLedgerOptions = {},
): Ledger => ({
  claim: async (key: string, fingerprint: string): Promise<Claim> => {
    const claim = randomUUID();
    const found = await claimScript(redis, [prefix + key], [claim, fingerprint]);
    if (typeof found !== "string") return { state: "claimed", claim };
    // Written by the scripts above and nobody else.
    const { state, fingerprint: under, since, receipt } = JSON.parse(found) as Entry;
    return state === "sent"
      ? { state, fingerprint: under, receipt: receipt === undefined ? undefined : JSON.parse(receipt) }
      : { state, fingerprint: under, since };
  },
  settle: async (key: string, settlement: Settlement, details: SettleDetails = {}): Promise<boolean> => {
    const { claim = "", receipt } = details;
    const text = receipt === undefined ? "" : JSON.stringify(receipt);
    return (await settleScript(redis, [prefix + key], [settlement, claim, text])) === 1;
  },
});
