// A process requests permits from the store of shared limits with a message. The store is passive: it only keeps a
// record of each budget. The process itself applies the message to these records, with the function `grant` (see
// Exchange). Where a comment says that the store grants, replies or counts, `grant` does it.

/** When a round trip to the store began and ended, in the process's clock. */
export interface Trip {
  readonly sentAt: number;
  readonly heardAt: number;
}

/** A time of the store's clock, and a time of the process's clock that was not later. */
export interface StoreTime {
  readonly now: number;
  readonly sentAt: number;
}

/** What a message reports about one budget. */
export interface BudgetMessage {
  /** `MAX_SAFE_INTEGER` stands for no limit, because `Infinity - Infinity` is no number. */
  readonly max: number;
  readonly windowMs: number;
  readonly dayMax: number;
  /** The least time that a round trip to the service takes, as measured so far. */
  readonly floorMs: number;
  /** The last reply; undefined without one in the last 24 hours. */
  readonly last: LastReply | undefined;
  /** Whether the process used the budget while the store was unavailable, and the daily use to add for that. */
  readonly wasAlone: boolean;
  readonly charge: number;
  /** A pause that the service asked for, and the response that did. */
  readonly pause: { readonly until: number; readonly by: string } | undefined;
}

/** A request that has ended. */
export interface EndedRequest {
  readonly id: string;
  readonly weight: number;
  readonly wasSent: boolean;
  readonly wasAnswered: boolean;
  /** When its permits are free, by budget. */
  readonly freeAt: readonly number[];
}

/** A request that needs permits. */
export interface WantedRequest {
  readonly id: string;
  readonly weight: number;
}

/** The requests of one kind that need permits. An empty list reports that no request of the kind waits any longer. */
export interface Ask {
  /** The kind's share of each budget, kept from requests that need no narrower budget. */
  readonly shares: readonly number[];
  /** The smallest fraction of each limit that background requests leave for interactive calls. */
  readonly leastReserve: number;
  /** The longest time from when a granted request may go until its end. */
  readonly leaseMs: number;
  readonly requests: readonly WantedRequest[];
}

/** The part of a message about requests of one kind. */
export interface PartMessage {
  /** The name of the kind, which begins with its priority. */
  readonly kind: string;
  /** The indexes of the budgets that its requests spend, the narrowest last. */
  readonly budgets: readonly number[];
  readonly ended: readonly EndedRequest[];
  readonly ask?: Ask | undefined;
}

/** Everything that a process reports and requests at one moment. All times are those of the process's clock. */
export interface Message {
  readonly process: string;
  /** The least time that a round trip to the store takes, as measured so far. */
  readonly storeFloorMs: number;
  /**
   * The store grants a permit in advance if the permit is certain to become free within this time and within a tenth of
   * its window, or within `storeFloorMs`.
   */
  readonly grantAheadMs: number;
  readonly budgets: readonly BudgetMessage[];
  readonly parts: readonly PartMessage[];
}

/** The state of a budget, as far as a process needs it. */
export interface BudgetReply {
  /** Identifies the state. The value changes if the store loses its data. */
  readonly born: string;
  /** How many messages have changed the state. A later reply has a smaller number if the store has lost changes. */
  readonly writes: number;
  /** The time of the state, see `timeOf`. */
  readonly at: number;
  /** How far the store's clock is ahead of the time of the state. */
  readonly aheadMs: number;
  readonly used: number;
  /** In how many milliseconds all used permits are free again. */
  readonly freeInMs: number;
  readonly dayUsed: number;
  readonly dayFreesInMs: number;
  readonly pausedForMs: number;
  readonly pausedBy: string;
  /** The permits that interactive calls of all processes hold; undefined without recent interactive calls. */
  readonly interactive: number | undefined;
}

/** A reply, and the round trip on whose values it is based. */
export interface LastReply extends BudgetReply, Trip {}

/** The reply to a part of a message. */
export interface PartReply {
  /** In how many milliseconds each granted request may go. These are the first requests of the part, in their order. */
  readonly granted: readonly number[];
  /** In how many milliseconds to ask again for the first request without a grant. */
  readonly waitMs: number;
  /** The index, among the part's budgets, of the budget without room; undefined if all requests were granted. */
  readonly lacks: number | undefined;
}

/** The reply to a message, with one entry for each budget and each part, in their order. */
export interface Reply {
  readonly budgets: readonly BudgetReply[];
  readonly parts: readonly PartReply[];
}
