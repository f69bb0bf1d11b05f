import type { Place, StoredValue, StoredValues } from "../fleet/place.ts";
import { type RedisCommands, script } from "./commands.ts";
import { faultOf } from "./fault.ts";
import { partsOf, textOf } from "./replies.ts";

// A value that has not changed for a day, plus an hour for pauses, has no effect any more.
const keepMs = 90_000_000;

/**
 * Atomically reads the values of the keys, or writes them if none has changed. A stored string consists of the version,
 * a blank and the value.
 */
const readOrWrite = script(`
local time, values, isWritten = redis.call('TIME'), {}, ARGV[1] == 'write'
for number, key in ipairs(KEYS) do
  values[number] = redis.call('GET', key) or ' '
  if isWritten and string.match(values[number], '^%S*') ~= ARGV[2 * number] then isWritten = false end
end
if isWritten then
  for number, key in ipairs(KEYS) do
    redis.call('SET', key, ARGV[2 * number + 1], 'PX', ${keepMs})
    values[number] = ' '
  end
end
return { time[1], time[2], isWritten and 1 or 0, unpack(values) }
`);

const storedValueOf = (reply: unknown): StoredValue => {
  const text = textOf(reply) ?? "";
  const end = text.indexOf(" ");
  return { version: text.slice(0, end), value: text.slice(end + 1) };
};

/** Stores shared limits in Redis. */
export const redisPlace = (redis: RedisCommands): Place => {
  const run = async (
    names: readonly string[],
    values: readonly string[],
  ): Promise<StoredValues & { isWritten: boolean }> => {
    // The braces keep all limits on one node of a cluster, because one script writes all changes of a message.
    const keys = names.map((name) => `touchpoint:{limits}:${name}`);
    const [seconds, micros, isWritten, ...stored] = partsOf(await readOrWrite(redis, keys, values));
    return {
      now: Number(textOf(seconds)) * 1_000 + Math.floor(Number(textOf(micros)) / 1_000),
      isWritten: textOf(isWritten) === "1",
      values: stored.map(storedValueOf),
    };
  };
  return {
    name: "Redis",
    read: (keys) => run(keys, ["read"]),
    write: (changes) => {
      const values = changes.flatMap(({ expected, version, value }) => [expected, `${version} ${value}`]);
      return run(
        changes.map(({ key }) => key),
        ["write", ...values],
      );
    },
    faultOf,
  };
};
