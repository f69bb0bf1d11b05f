import { AdapterFault } from "../ledger/ledger-over.ts";

/** What a client of Redis must do. */
export const mustReply =
  "the client must return the replies of scripts: pass a client of ioredis or node-redis, no pipeline, transaction or wrapper";

/** A reply as text; undefined for none. Clients can be set to give texts as Buffers and numbers as texts. */
export const textOf = (reply: unknown): string | undefined =>
  reply === null || reply === undefined ? undefined : String(reply);

/** The parts of a reply. @throws AdapterFault if it has none. */
export const partsOf = (reply: unknown): readonly unknown[] => {
  if (!Array.isArray(reply)) throw new AdapterFault(mustReply);
  return reply;
};

/** A budget's state. */
export interface BudgetReply {
  /** Identifies the state: another one if Redis has lost its data. */
  readonly born: string;
  /** The time of the state. */
  readonly at: number;
  /** How far the clock of Redis is ahead of it. */
  readonly aheadMs: number;
  readonly used: number;
  /** When all of that is free again. */
  readonly freeInMs: number;
  readonly dayUsed: number;
  readonly dayFreesInMs: number;
  readonly pausedForMs: number;
  readonly pausedBy: string;
  /** Permits that interactive calls of all processes hold; undefined without recent ones. */
  readonly interactive?: number;
}

/** The reply to a part of a message. */
export interface PartReply {
  /** In how many milliseconds each granted request may go, in their order. */
  readonly granted: readonly number[];
  /** In how many milliseconds the next one should be asked for. */
  readonly waitMs: number;
  /** The place of the budget that it lacks, from 1; 0 if all were granted. */
  readonly lacks: number;
}

/** The reply to a message: of each budget and each part, in their order. */
export interface Reply {
  readonly budgets: readonly BudgetReply[];
  readonly parts: readonly PartReply[];
}

/** Reads the reply to a message. @throws AdapterFault if it is none. */
export const replyOf = (reply: unknown): Reply => {
  const text = textOf(reply);
  if (!text?.startsWith("{")) throw new AdapterFault(mustReply);
  // What the script returns.
  return JSON.parse(text) as Reply;
};
