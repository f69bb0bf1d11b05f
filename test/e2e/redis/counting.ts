import type { Redis } from "ioredis";
import type { Send } from "../../../src/http/types.ts";

export const limit = { max: 50, perMs: 500 };

const script = `
local time = redis.call('TIME')
local count = redis.call('RPUSH', KEYS[1], ARGV[1] .. ' ' .. time[1] .. string.format('%06d', tonumber(time[2])))
if count == tonumber(ARGV[2]) then redis.call('RPUSH', KEYS[2], 'all') end
`;

const listOf = (id: string): string => `uses of ${id}`;
const wholeOf = (id: string): string => `whole of ${id}`;

/** One request that was counted. */
export interface Use {
  readonly by: string;
  /** On the server's clock. */
  readonly atMicros: number;
}

/** A service inside Redis: it counts on the very clock by which permits return, and `answer` answers. */
export const countingOn =
  (redis: Redis, { id, by }: { readonly id: string; readonly by: string }, answer: Send): Send =>
  async (request) => {
    await redis.eval(script, 2, listOf(id), wholeOf(id), by, limit.max);
    return answer(request);
  };

/** Waits until the whole limit was used once; the connection does nothing else meanwhile. */
export const whenWholeIsUsed = (redis: Redis, id: string): Promise<unknown> => redis.blpop(wholeOf(id), 0);

/** All that were counted, in the order in which they were. */
export const usesOf = async (redis: Redis, id: string): Promise<readonly Use[]> =>
  (await redis.lrange(listOf(id), 0, -1)).map((line) => {
    const [by = "", atMicros] = line.split(" ");
    return { by, atMicros: Number(atMicros) };
  });
