export type { SharedLimitsOptions as RedisLimitsOptions } from "../fleet/limits-over.ts";
export type { IoredisCommands, NodeRedisCommands, RedisCommands } from "./commands.ts";
export { type RedisCheckpointOptions, redisCheckpoint } from "./redis-checkpoint.ts";
export { type RedisLedgerOptions, redisLedger } from "./redis-ledger.ts";
export { redisLimits } from "./redis-limits.ts";
