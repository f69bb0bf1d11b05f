/** The numbers of a budget, and what the process knows of it. */
export interface BudgetReport {
  readonly max: number;
  readonly windowMs: number;
  readonly dayMax: number;
  /** The part of a round trip to the service that is certain to pass. */
  readonly floorMs: number;
  /** `born` of the last answer, and the day's use in it; an empty text before the first. */
  readonly born: string;
  readonly dayUsed: number;
  readonly ageMs: number;
  /** Use while Redis was unavailable. */
  readonly charge: number;
  /** A pause that the service asked for (0: none), and the response that asked for it. */
  readonly pauseMs: number;
  readonly pausedBy: string;
}

/** Requests of one kind that wait, first come first served. None: they wait no longer. */
export interface Ask {
  /** The names of priority and budgets. */
  readonly kind: string;
  /** The places of its budgets in `budgets`, counted from 1; the narrowest is the last. */
  readonly at: readonly number[];
  /** What the kind may take of each wider budget before others do. */
  readonly shares: readonly number[];
  readonly leastReserve: number;
  /** How long a request may take. */
  readonly leaseMs: number;
  /** `weight` is what a request spends of its narrowest budget; of the others it spends 1. */
  readonly requests: readonly { readonly id: string; readonly weight: number }[];
}

/** A request that has ended. */
export interface Settled {
  readonly id: string;
  readonly kind: string;
  readonly at: readonly number[];
  readonly weight: number;
  readonly wasSent: boolean;
  /** Whether there was a response: without one, it is unknown when the service counted the request. */
  readonly wasAnswered: boolean;
  /** How long its permits cool down, for each budget. */
  readonly coolMs: readonly number[];
}

/** One message of one process; JSON in ARGV[1] of the script. */
export interface Exchange {
  readonly process: string;
  /** The part of a round trip to Redis that is certain to pass. */
  readonly redisFloorMs: number;
  /** Whether the process used its share without Redis, as others may do still. */
  readonly wasAlone: boolean;
  readonly budgets: readonly BudgetReport[];
  readonly settled: readonly Settled[];
  readonly asks: readonly Ask[];
}

/** A budget's state. */
export interface BudgetReply {
  readonly born: string;
  readonly used: number;
  /** When all of that is free again. */
  readonly freeInMs: number;
  readonly dayUsed: number;
  readonly dayFreesInMs: number;
  readonly pausedForMs: number;
  /** Identifies the pause. */
  readonly pausedUntil: number;
  readonly pausedBy: string;
  /** Permits that interactive calls of all processes hold; -1 without recent ones. */
  readonly interactive: number;
}

/** The answer to an ask. */
export interface AskReply {
  /** In how many milliseconds each granted request may go, in their order. */
  readonly granted: readonly number[];
  /** In how many milliseconds the next one should be asked for. */
  readonly waitMs: number;
  /** The place of the budget that it lacks, from 1; 0 if all were granted. */
  readonly lacks: number;
}

export interface ExchangeReply {
  readonly budgets: readonly BudgetReply[];
  readonly asks: readonly AskReply[];
}
