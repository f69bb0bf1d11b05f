import { AdapterFault } from "../ledger/ledger-over.ts";

/** The hint for a Redis client that does not return replies. */
export const mustReply =
  "the client must return the replies of scripts: pass a client of ioredis or node-redis, not a pipeline, transaction or wrapper";

/**
 * A reply as text; undefined for none, which Lua and some clients call `false`. A client can be configured to return
 * texts as Buffers and numbers as texts.
 */
export const textOf = (reply: unknown): string | undefined =>
  reply === null || reply === undefined || reply === false ? undefined : String(reply);

/** The parts of a reply. @throws AdapterFault if the reply is not an array. */
export const partsOf = (reply: unknown): readonly unknown[] => {
  if (!Array.isArray(reply)) throw new AdapterFault(mustReply);
  return reply;
};
