import type { ErrorDetails, Outcome } from "../errors.ts";
import type { OnceClaim } from "../ledger/send-once.ts";
import type { Priority } from "../options/priority.ts";
import type { OperationFacts, ReplayClass } from "../service/define.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

/** How to send a request, according to its operation, its input and the options of the call. */
export interface Plan {
  readonly replay: ReplayClass;
  /** How much the request spends of the last limit in the operation's `budgets`. */
  readonly weight: number;
  /** Interactive requests go before background ones. */
  readonly priority: Priority;
  readonly maxRetries: number;
  /** The maximum total time that the requests of the call may wait for limits; undefined for no maximum. */
  readonly maxWaitMs: number | undefined;
  /**
   * Whether a recorder sends the request. Such a request is allowed while the client closes, and `maxQueued` doesn't
   * apply to it.
   */
  readonly isDrained: boolean;
  /** Whether the limits may refuse the request with a BatchTooLarge, so that the caller sends it in parts. */
  readonly isDivisible: boolean;
  /** The `dryRun` of the call; undefined if the client's setting applies. */
  readonly dryRun: boolean | undefined;
  /** The claim on an email's send-once key. */
  readonly once: OnceClaim | undefined;
  /**
   * Called with what the request waits for (a limit, `retry-after`, `retry`, `concurrency`), and with undefined when it
   * continues.
   */
  readonly onWait: ((waitingFor: string | undefined) => void) | undefined;
}

/** Facts to add to the error of a failed attempt. */
export interface FailureNotes {
  readonly retryAfterMs?: number | undefined;
  /** A sentence for the message. */
  readonly note?: string | undefined;
}

/** The facts about a call that its errors contain. */
export interface Progress {
  readonly operation: string;
  readonly attempts: number;
  readonly outcome: Outcome;
}

/** The parts of a call that the stages use. */
export interface CallView {
  /** Aborts the call at once, including waits and queues. */
  readonly signal: AbortSignal | undefined;
  /** The end of `totalTimeoutMs`, on the client's clock. */
  readonly deadlineAt: number | undefined;
  /** When the client's deadline ends the waits of the call, on the client's clock. */
  readonly waitsEndAt?: number | undefined;
  /** The remaining part of `maxWaitMs` for all requests of the call together; undefined for no limit. */
  readonly waitLeftMs: number | undefined;
  /** The number of attempts. */
  readonly attempts: number;
  /** The facts for the errors of the call. */
  readonly progress: Progress;
  /** Whether the call may have taken effect. */
  readonly mayHaveTakenEffect: boolean;
  /** Notes that an attempt, and so the complete call, may have taken effect. */
  noteEffect(): void;
  /** Notes that a 404 counted as success. */
  noteGone(): void;
  /** Counts an attempt. @param response - the response of a successful attempt. */
  attempted(response?: HttpResponse): void;
  /** Notes a response of the email guard, which responds instead of the service. */
  answered(response: HttpResponse): void;
  waited(ms: number): void;
  /** Subtracts a wait from the remaining `maxWaitMs`. */
  spendWait(ms: number): void;
  /**
   * Waits before the next try and reports the wait to `onWait`. Closing the client ends the wait.
   *
   * @param onWait - by default, the listener of the long work that the call is a part of.
   */
  backOff(ms: number, waitingFor?: string, onWait?: Plan["onWait"]): Promise<void>;
  /** Creates an error of this class with the facts of the call. Its message begins with the operation. */
  error<Details extends ErrorDetails, Created>(
    Class: new (message: string, details: Details) => Created,
    message: string,
    details: Omit<Details, keyof Progress>,
  ): Created;
}

/** One operation with its plan, and the call that it belongs to. The stages pass it along with its request. */
export interface Sending {
  readonly operation: OperationFacts;
  readonly plan: Plan;
  readonly call: CallView;
}

/** Sends a request and resolves with any complete response; rejects with an AttemptFailure, or the signal's reason. */
export type Send = (sending: Sending, request: HttpRequest) => Promise<HttpResponse>;

/** One concern of sending. */
export type Stage = (sending: Sending, request: HttpRequest, next: Send) => Promise<HttpResponse>;

export type FailureKind =
  /** A complete response with an error status. */
  | "status"
  /** A success whose body is missing or cannot be read. */
  | "broken"
  /** A success response that is larger than allowed. */
  | "too-large"
  | "redirect"
  /** The request was not sent, because it has to wait for the limits again. Only the retry stage handles this kind. */
  | "requeued"
  /** A test double has no handler for the request. */
  | "unmocked"
  | "connection"
  | "timeout"
  | "aborted";

/** Why one attempt failed. Internal: `errorFrom` creates the public error. */
export class AttemptFailure extends Error {
  readonly kind: FailureKind;
  /** Whether any byte of the request may have been sent. */
  readonly wasSent: boolean;
  readonly response: HttpResponse | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    details: { readonly wasSent: boolean; readonly response?: HttpResponse; readonly cause?: unknown },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.wasSent = details.wasSent;
    this.response = details.response;
  }
}

/** Thrown for a batch that was not sent, because it leaves no room for interactive calls. Internal. */
export class BatchTooLarge extends Error {
  /** The maximum weight of a part. */
  readonly most: number;

  constructor(most: number) {
    super(`the batch must be cut to ${most}`);
    this.most = most;
  }
}

/** A transport that can be closed. */
export interface Transport {
  readonly send: Send;
  /** Closes the transport's own sockets. A caller's dispatcher stays open. */
  close(): Promise<void>;
}
