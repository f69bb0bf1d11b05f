import { Redis } from "ioredis";

/** One job: a range of lines of a file. Each workspace has its own files, key and limits. */
export interface LineRange {
  readonly workspace: string;
  readonly file: string;
  readonly firstLine: number;
  /** The first and the last byte. */
  readonly start: number;
  readonly end: number;
}

export const queueName = "line-ranges";

/** BullMQ needs commands that wait until Redis is available again. */
export const connect = (): Redis =>
  new Redis(process.env.REDIS_URL ?? "redis://localhost:6379", { maxRetriesPerRequest: null });
