import type { Outcome } from "../errors.ts";
import type { OnceClaim } from "../ledger/send-once.ts";
import type { Priority } from "../options/priority.ts";
import type { OperationFacts, ReplayClass } from "../service/define.ts";
import type { HttpResponse } from "./message.ts";

/** How a request is made: what its operation, its input and the options of the call ask for. */
export interface Plan {
  readonly replay: ReplayClass;
  /** How much of the last of the operation's limits it spends. */
  readonly weight: number;
  /** Interactive requests go before background ones. */
  readonly priority: Priority;
  readonly maxRetries: number;
  /** How long the requests of the call may wait for limits in total; undefined: no limit. */
  readonly maxWaitMs: number | undefined;
  /** Allowed while the client closes, and not refused by `maxQueued`: the events of a recorder. */
  readonly isDrained: boolean;
  /** It may be refused with a BatchTooLarge, and sent in parts. */
  readonly isDivisible: boolean;
  /** The call's own `dryRun`; undefined: the client decides. */
  readonly dryRun: boolean | undefined;
  /** The claim on an email's send-once key. */
  readonly once: OnceClaim | undefined;
  /**
   * Called with what the request waits for (a limit, `retry-after`, `retry`, `concurrency`), and with undefined when it
   * continues.
   */
  readonly onWait: ((waitingFor: string | undefined) => void) | undefined;
}

/** Whether anything of a call may have happened: of each request, and, through the parents, of all of it. */
export class Effect {
  /** Set alone, and not by `note`, where only the caller knows whether the whole call is affected. */
  isPossible = false;
  /** A 404 counted as done: an earlier attempt was unclear, or another program was first. */
  wasGone = false;
  readonly #parent: Effect | undefined;

  constructor(parent: Effect | undefined) {
    this.#parent = parent;
  }

  get outcome(): Outcome {
    return this.isPossible ? "unknown" : "not-applied";
  }

  noteGone(): void {
    this.wasGone = true;
    this.#parent?.noteGone();
  }

  /** An attempt may have taken effect. */
  note(): void {
    this.isPossible = true;
    this.#parent?.note();
  }
}

/** The attempts and waits of a call: of each request, and, through the parents, of all of it. */
export class Account {
  attempts = 0;
  waitedMs = 0;
  /** The last response. */
  response: HttpResponse | undefined;
  /** What is left of `maxWaitMs`, for all requests of a call together; undefined: no limit. */
  waitLeftMs: number | undefined;
  readonly #parent: Account | undefined;

  constructor(parent: Account | undefined) {
    this.#parent = parent;
  }

  /** @param response - of an attempt that succeeded. */
  attempted(response?: HttpResponse): void {
    this.attempts += 1;
    if (response !== undefined) this.response = response;
    this.#parent?.attempted(response);
  }

  waited(ms: number): void {
    this.waitedMs += ms;
    this.#parent?.waited(ms);
  }

  /** Spends the limit on waits. */
  spend(ms: number): void {
    if (this.waitLeftMs !== undefined) this.waitLeftMs -= ms;
  }

  /** The email guard responds instead of the service. */
  answered(response: HttpResponse): void {
    this.response = response;
    this.#parent?.answered(response);
  }
}

/** What is appended to the error of a failed attempt. */
export interface FailureNotes {
  readonly retryAfterMs?: number | undefined;
  /** A sentence for the message. */
  readonly note?: string | undefined;
}

/** What an error knows about its call. */
export interface Progress {
  readonly operation: string;
  readonly attempts: number;
  readonly outcome: Outcome;
}

/** What the stages may know of the call that a request belongs to. */
export interface Scope {
  readonly operation: OperationFacts;
  readonly plan: Plan;
  /** Aborts the call at once, including waits and queues. */
  readonly signal: AbortSignal | undefined;
  /** The end of `totalTimeoutMs`, on the client's clock. */
  readonly deadlineAt: number | undefined;
  readonly effect: Effect;
  readonly account: Account;
  /** Holds what is left of `maxWaitMs`; requests of a call share it. Undefined: no limit. */
  readonly waits: Account | undefined;
  readonly progress: Progress;
  /** Waits before the next try; those who follow the waits are told. The end of the client ends the wait, too. */
  backOff(ms: number): Promise<void>;
  /** The error that ends the call for this reason; no other code makes errors that carry an outcome. */
  fail(reason: unknown, notes?: FailureNotes): unknown;
}
