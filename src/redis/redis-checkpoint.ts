import { ConfigurationError } from "../errors.ts";
import { type CheckpointStore, checkpoints } from "../runtime/checkpoint.ts";
import { mustBeText, refuseSetup, ruleFaults } from "../runtime/rules.ts";
import { clientFaults, type RedisCommands } from "./commands.ts";
import { withAdvice } from "./fault.ts";
import { echoScript, getScript, setScript } from "./ledger-scripts.ts";
import { mustReply, textOf } from "./replies.ts";

/** The run that the checkpoint belongs to. */
export interface RedisCheckpointOptions {
  /**
   * The id of the checkpoint. Use one id per source: `events-2026-11.ndjson`. The key in Redis is
   * `touchpoint:checkpoint:` and the id.
   */
  readonly id: string;
}

/**
 * Stores the checkpoint of an ingestion or import in Redis, so that another process, on any machine, can continue a run
 * whose process was killed. The checkpoint is as durable as Redis, and does not expire. If the checkpoint is lost, the
 * run starts over: recorded events are sent again under the same ids, and count once.
 *
 * @param redis - an ioredis or node-redis client, version 5 or 6; cluster clients work too. You close it yourself.
 * @throws ConfigurationError naming every fault of the arguments at once. A run that uses the store throws one when
 * Redis fails, or when the value under the key is damaged, of a newer version, or not a checkpoint.
 * @example
 * ```ts
 * import { redisCheckpoint } from "touchpoint-sdk/redis";
 *
 * const events = [{ name: "signed.up", contact: { email: "ada@example.com" } }];
 * await client.events.ingest(events, { checkpoint: redisCheckpoint(redis, { id: "sign-ups" }) });
 * ```
 */
export const redisCheckpoint = (redis: RedisCommands, options: RedisCheckpointOptions): CheckpointStore => {
  const faults = ruleFaults(options, { id: mustBeText }, { required: ["id"] });
  refuseSetup("redisCheckpoint", [...clientFaults(redis), ...faults]);
  const key = `touchpoint:checkpoint:${options.id}`;
  const stored = `the checkpoint ${key}`;
  return {
    load: async () => {
      // If the client dropped replies, the checkpoint would seem to be missing, and the run would start over.
      const echo = textOf(await withAdvice(stored, echoScript(redis, [key], [])));
      if (!echo?.endsWith(key)) throw new ConfigurationError(`${stored}: ${mustReply}`);
      const text = textOf(await withAdvice(stored, getScript(redis, [key], [])));
      return text === undefined ? undefined : checkpoints.parse(text, `${stored} in Redis`);
    },
    save: async (state) => void (await withAdvice(stored, setScript(redis, [key], [JSON.stringify(state)]))),
  };
};
