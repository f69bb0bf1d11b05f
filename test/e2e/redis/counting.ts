import type { Redis } from "ioredis";
import type { Send } from "../../../src/http/types.ts";

const nameOf = (id: string): string => `uses of ${id}`;

/** A service that counts in Redis, where the counts outlive the processes. */
export const countingOn =
  (redis: Redis, id: string, answer: Send): Send =>
  async (sending, request) => {
    await redis.incr(nameOf(id));
    return answer(sending, request);
  };

/** How many requests were counted. */
export const usesOf = async (redis: Redis, id: string): Promise<number> =>
  Number(await redis.get(nameOf(id)));
