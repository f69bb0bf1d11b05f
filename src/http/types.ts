import type { Priority } from "../options/priority.ts";
import { headerOf, type RawHeaders } from "../runtime/headers.ts";
import type { BudgetName, Method, ReplayClass } from "../service/define.ts";

/** What a call costs: the stages count, and only the caller of the pipeline reads it. */
export interface RequestStats {
  /** The number of requests. */
  attempts: number;
  /** The time in queues and in back-off, in milliseconds. */
  waitedMs: number;
  /** Whether an attempt may have taken effect, although it did not succeed. */
  mayHaveTakenEffect: boolean;
  /** A 404 counted as done: an earlier attempt was unclear, or another program was first. */
  wasGone?: boolean;
}

/** How long the requests of one call may still wait for limits and slots in total. */
export interface WaitAllowance {
  leftMs: number;
}

/** One attempt of a call on its way through the stages; a stage that adds something passes on a copy. */
export interface HttpRequest {
  readonly operation: string;
  readonly method: Method;
  /** The path as the document writes it, without ids and query, so it may be logged. */
  readonly route: string;
  /** The path from the root of the origin, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Separate from the other headers, because readers of those must not see the key. */
  readonly authorization?: string;
  readonly body: string | undefined;
  readonly replay: ReplayClass;
  /** A 404 after an attempt with a lost response means that the first attempt succeeded. */
  readonly notFoundMeansDone: boolean;
  readonly mayBeEmpty: boolean;
  readonly budgets: readonly BudgetName[];
  /** How much of the last of `budgets` it spends. */
  readonly weight: number;
  /** Interactive requests go before background ones. */
  readonly priority: Priority;
  /** What is left of `maxWaitMs`; all requests of a call share it. Undefined: no limit. */
  readonly waits?: WaitAllowance | undefined;
  /** Allowed while the client closes, and not refused by `maxQueued`: the events of a recorder. */
  readonly isDrained?: boolean | undefined;
  /** It may be refused with a BatchTooLarge, and sent in parts. */
  readonly isDivisible?: boolean | undefined;
  /** The end of `totalTimeoutMs`, on the client's clock. */
  readonly deadlineAt?: number | undefined;
  /** Aborts the call at once, including waits and queues. */
  readonly signal: AbortSignal | undefined;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** Whether an earlier attempt, or an earlier request of the same call, may have taken effect. */
  readonly mayHaveTakenEffect: boolean;
  /**
   * Called with what the call waits for (a limit, `retry-after`, `retry`, `concurrency`), and with undefined when it
   * continues.
   */
  readonly onWait?: ((waitingFor: string | undefined) => void) | undefined;
  /** Whether the service has asked for a pause since this attempt left the queue. */
  readonly isHeld?: (() => boolean) | undefined;
  readonly stats: RequestStats;
  /** The call's own `dryRun`; undefined: the client decides. */
  readonly dryRun?: boolean | undefined;
}

/** A complete response: `json`, or, if the body is not JSON (`isJson` false), its `text`, which may be empty. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly text: string;
  readonly json: unknown;
  readonly isJson: boolean;
  /** Set by the auth stage on a 401 when a newer key may be available. */
  readonly canRenewKey?: boolean;
}

/** Sends a request and resolves with any complete response; rejects with an AttemptFailure, or the signal's reason. */
export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/** Wraps a Send in one concern. */
export type Stage = (next: Send) => Send;

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
  /** Returned before the first byte: the service asked for a pause while the request still waited for a socket. */
  | "held"
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

/** All headers of a request, including the key. */
export const headersOf = ({ headers, authorization }: HttpRequest): Readonly<Record<string, string>> =>
  authorization === undefined ? headers : { ...headers, authorization };

/** Whether the service itself says that there is no body; a missing body may also have been cut off. */
export const isWholeWithoutBody = ({ status, headers, text }: HttpResponse): boolean =>
  text === "" &&
  (status === 204 ||
    status === 205 ||
    headerOf(headers, "content-length") === "0" ||
    headerOf(headers, "transfer-encoding") !== undefined);
