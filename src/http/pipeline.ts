import type { Send, Stage } from "./types.ts";

/** First stage is outermost: it sees the request first and the outcome last. */
export const pipeline = (stages: readonly Stage[], transport: Send): Send =>
  stages.reduceRight<Send>((next, stage) => stage(next), transport);
