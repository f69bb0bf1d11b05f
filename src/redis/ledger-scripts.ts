import type { LedgerEntry } from "../ledger/rules.ts";
import { script } from "./commands.ts";

// After a lost connection, a client resends commands that Redis may already have run, so every script must be safe to
// run twice.

/** The value of a ledger key. A freed key stays for ten minutes, so that a resent settlement is recognized. */
interface Entry extends Omit<LedgerEntry, "key" | "now" | "state" | "receipt"> {
  readonly state: LedgerEntry["state"] | "free";
  /** A string of JSON, because Redis would change empty arrays and long numbers in it. */
  readonly receipt?: string;
}

/** A key with its entry and the time of Redis; undefined if it is free. */
export const entryOf = (key: string, text: string | undefined, now: unknown): LedgerEntry | undefined => {
  if (text === undefined) return undefined;
  // Only the scripts below write entries.
  const { state, receipt, ...rest }: Entry = JSON.parse(text);
  if (state === "free") return undefined;
  const stored = receipt === undefined ? undefined : JSON.parse(receipt);
  return { ...rest, key, state, receipt: stored, now: Number(now) };
};

const luaNow = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
`;

export const getScript = script("return redis.call('GET', KEYS[1])");

export const setScript = script("return redis.call('SET', KEYS[1], ARGV[1])");

/** Returns the time and the entry of the key, which is nil if there is none. */
export const readScript = script(`${luaNow}return { now, redis.call('GET', KEYS[1]) }`);

/** Returns the key, with any prefix that the client adds. */
export const echoScript = script("return KEYS[1]");

/**
 * Claims a free key. Arguments: the claim, the fingerprint, the operation and the limit. Returns 1 if the key now has
 * this claim.
 */
export const claimScript = script(`${luaNow}
local text = redis.call('GET', KEYS[1])
local entry = text and cjson.decode(text)
if entry and entry.state ~= 'free' then return entry.claim == ARGV[1] and 1 or 0 end
redis.call('SET', KEYS[1], cjson.encode({
  state = 'pending', claim = ARGV[1], fingerprint = ARGV[2], operation = ARGV[3], limitMs = tonumber(ARGV[4]), since = now
}))
return 1
`);

/**
 * Settles a key. Arguments: the settlement, the claim, the receipt, the settlement's id, and `1` if a sent key may
 * change, too. Returns 1 if the settlement took effect, in this or an earlier run of the script.
 */
export const settleScript = script(`
local text = redis.call('GET', KEYS[1])
if not text then return 0 end
local entry = cjson.decode(text)
if entry.settled == ARGV[4] then return 1 end
if entry.state == 'free' or entry.claim ~= ARGV[2] or (entry.state == 'sent' and ARGV[5] ~= '1') then return 0 end
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

/** Returns the next cursor and the time, then each key followed by its entry. */
export const scanScript = script(`${luaNow}
local found = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 500)
local answer = { found[1], now }
for _, key in ipairs(found[2]) do
  local text = redis.call('GET', key)
  if text then
    table.insert(answer, key)
    table.insert(answer, text)
  end
end
return answer
`);
