import { Redis } from "ioredis";

/** Some lines of a file: one job. Each workspace has its own files, its own key and its own limits. */
export interface LineRange {
  readonly workspace: string;
  readonly file: string;
  readonly firstLine: number;
  /** The first and the last byte. */
  readonly start: number;
  readonly end: number;
}

export const queueName = "line-ranges";

/** BullMQ wants commands that wait until Redis is back. */
export const connect = (): Redis =>
  new Redis(process.env.REDIS_URL ?? "redis://localhost:6379", { maxRetriesPerRequest: null });
