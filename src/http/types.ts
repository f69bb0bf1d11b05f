import type { ErrorDetails, Outcome } from "../errors.ts";
import type { OnceClaim } from "../ledger/send-once.ts";
import type { Priority } from "../options/priority.ts";
import type { OperationFacts, ReplayClass } from "../service/define.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

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

/** What the stages may know of the call that a request belongs to, and what they report to it. */
export interface CallView {
  /** Aborts the call at once, including waits and queues. */
  readonly signal: AbortSignal | undefined;
  /** The end of `totalTimeoutMs`, on the client's clock. */
  readonly deadlineAt: number | undefined;
  /** When its waits end because of the client's deadline, on the client's clock. */
  readonly waitsEndAt?: number | undefined;
  /** What is left of `maxWaitMs` for all requests of the call together; undefined: no limit. */
  readonly waitLeftMs: number | undefined;
  /** How many attempts were made. */
  readonly attempts: number;
  /** What its errors say of it. */
  readonly progress: Progress;
  /** Whether it may have taken effect. */
  readonly mayHaveTakenEffect: boolean;
  /** An attempt may have taken effect, and so the whole call. */
  noteEffect(): void;
  /** A 404 counts as done. */
  noteGone(): void;
  /** @param response - of an attempt that succeeded. */
  attempted(response?: HttpResponse): void;
  /** The email guard responds instead of the service. */
  answered(response: HttpResponse): void;
  waited(ms: number): void;
  /** Spends `maxWaitMs`. */
  spendWait(ms: number): void;
  /**
   * Waits before the next try and reports the wait to `onWait`. The end of the client ends the wait, too.
   *
   * @param onWait - by default that of the long work that the call is a part of.
   */
  backOff(ms: number, waitingFor?: string, onWait?: Plan["onWait"]): Promise<void>;
  /** An error of this class that carries what the call has shown; its message begins with the operation. */
  error<Details extends ErrorDetails, Made>(
    Class: new (message: string, details: Details) => Made,
    message: string,
    details: Omit<Details, keyof Progress>,
  ): Made;
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
  /** A success whose body cannot be read. */
  | "broken"
  /** A complete success without the expected body. */
  | "empty"
  /** A success response that is larger than allowed. */
  | "too-large"
  | "redirect"
  /** Returned before the first byte: the limits make it wait again. Only the retry stage treats it apart. */
  | "requeued"
  /** A test double does not handle it. */
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

/** A batch was not sent, because only parts of it fit beside interactive calls. Internal. */
export class BatchTooLarge extends Error {
  /** The largest weight of a part. */
  readonly most: number;

  constructor(most: number) {
    super(`the batch must be cut to ${most}`);
    this.most = most;
  }
}

/** A transport that can be closed. */
export interface Transport {
  readonly send: Send;
  /** Closes its own sockets; a dispatcher of the caller stays open. */
  close(): Promise<void>;
}
