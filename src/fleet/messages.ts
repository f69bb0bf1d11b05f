/** What a process tells of one budget in a message. JSON has no `Infinity`: `MAX_SAFE_INTEGER` stands for no limit. */
export interface BudgetMessage {
  readonly max: number;
  readonly windowMs: number;
  readonly dayMax: number;
  /** The part of a round trip to the service that is certain to pass. */
  readonly floorMs: number;
  /** Which state the process knows; an empty text for none. */
  readonly born: string;
  /** How many messages had changed it. */
  readonly writes: number;
  readonly dayUsed: number;
  /** The time of that state as the process heard it. */
  readonly knownAt: number;
  readonly aheadMs: number;
  /** How long ago it heard that, and how long the question took. */
  readonly ageMs: number;
  readonly tripMs: number;
  /** Whether the process used the budget while the store was unavailable, as others may do still; and that use. */
  readonly wasAlone: boolean;
  readonly charge: number;
  /** A pause that the service asked for; 0 for none. */
  readonly pauseMs: number;
  readonly pausedBy: string;
}

/** A request that has ended. */
export interface EndedRequest {
  readonly id: string;
  readonly weight: number;
  readonly wasSent: boolean;
  readonly wasAnswered: boolean;
  /** How long its permits still cool down, by budget. */
  readonly coolMs: readonly number[];
}

/** A request that asks to be sent. */
export interface WantedRequest {
  readonly id: string;
  readonly weight: number;
}

/** What requests of one kind ask for. Without requests, the kind waits no longer. */
export interface Ask {
  /** What the kind may take of each budget before requests that need no narrower one. */
  readonly shares: readonly number[];
  readonly leastReserve: number;
  /** How long a request may take. */
  readonly leaseMs: number;
  readonly requests: readonly WantedRequest[];
}

/** The part of a message about requests of one kind. */
export interface PartMessage {
  /** Its name begins with its priority. */
  readonly kind: string;
  /** The indexes of the budgets that its requests spend, the narrowest last. */
  readonly budgets: readonly number[];
  readonly ended: readonly EndedRequest[];
  readonly ask?: Ask | undefined;
}

/** What a process tells and asks at one moment. */
export interface Message {
  readonly process: string;
  /** The part of a round trip to the store that is certain to pass. */
  readonly storeFloorMs: number;
  /** A permit that is sure to be free so soon, or in a tenth of its window, is granted now, for then. */
  readonly soonMs: number;
  readonly budgets: readonly BudgetMessage[];
  readonly parts: readonly PartMessage[];
}

/** The state of a budget, as a process has to know it. */
export interface BudgetReply {
  /** Identifies the state: another one if the store has lost its data. */
  readonly born: string;
  /** How many messages have changed it: fewer later if the store has lost the last ones. */
  readonly writes: number;
  /** The time of the state. */
  readonly at: number;
  /** How far the store's clock is ahead of it. */
  readonly aheadMs: number;
  readonly used: number;
  /** When all of that is free again. */
  readonly freeInMs: number;
  readonly dayUsed: number;
  readonly dayFreesInMs: number;
  readonly pausedForMs: number;
  readonly pausedBy: string;
  /** Permits that interactive calls of all processes hold; undefined without recent ones. */
  readonly interactive: number | undefined;
}

/** The reply to a part of a message. */
export interface PartReply {
  /** In how many milliseconds each granted request may go, in their order. */
  readonly granted: readonly number[];
  /** In how many milliseconds the next one should be asked for. */
  readonly waitMs: number;
  /** The index, among the part's budgets, of the one that it lacks; undefined if all were granted. */
  readonly lacks: number | undefined;
}

/** The reply to a message: of each budget and each part, in their order. */
export interface Reply {
  readonly budgets: readonly BudgetReply[];
  readonly parts: readonly PartReply[];
}
