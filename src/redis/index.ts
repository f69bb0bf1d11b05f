export type { IoredisCommands, NodeRedisCommands, RedisCommands } from "./commands.ts";
export { type RedisCheckpointOptions, redisCheckpoint } from "./redis-checkpoint.ts";
export { type RedisLedgerOptions, redisLedger } from "./redis-ledger.ts";
export { type RedisLimitsOptions, redisLimits } from "./redis-limits.ts";
