import type { Priority } from "../options/priority.ts";
import { headerOf, type RawHeaders } from "../runtime/headers.ts";
import type { BudgetName, Method, ReplayClass } from "../service/define.ts";

/** What a call costs: the stages count, and only the caller of the pipeline reads. */
export interface RequestStats {
  /** Requests made. */
  attempts: number;
  /** Time in queues and in back-off, in milliseconds. */
  waitedMs: number;
  /** An attempt may have taken effect although it did not succeed. */
  mayHaveTakenEffect: boolean;
  /** A 404 was taken for done: an attempt before it was unclear, or somebody else was first. */
  wasGone?: boolean;
}

/** How long the requests of one call may still wait for limits and slots, together. */
export interface WaitAllowance {
  leftMs: number;
}

/** One attempt of a call on its way down; a stage that adds something passes on a copy. */
export interface HttpRequest {
  readonly operation: string;
  readonly method: Method;
  /** The path as the document writes it, without ids and query: may be told to anybody. */
  readonly route: string;
  /** From the root of the origin, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A header of its own: who is handed the others must not see the key. */
  readonly authorization?: string;
  readonly body: string | undefined;
  readonly replay: ReplayClass;
  /** A 404 after an unclear attempt says that the first one did it. */
  readonly notFoundMeansDone: boolean;
  readonly mayBeEmpty: boolean;
  readonly budgets: readonly BudgetName[];
  /** How much of the last of `budgets` it spends. */
  readonly weight: number;
  /** Interactive requests go before background ones. */
  readonly priority: Priority;
  /** What is left of `maxWaitMs`; all requests of a call share it. Undefined: no bound. */
  readonly waits?: WaitAllowance | undefined;
  /** Let through while the client closes, and not refused for want of room: the events of a recorder. */
  readonly isDrained?: boolean | undefined;
  /** It may be refused with a BatchTooLarge, and sent in parts. */
  readonly isDivisible?: boolean | undefined;
  /** When `totalTimeoutMs` is over, on the clock of the client. */
  readonly deadlineAt?: number | undefined;
  /** Ends the call at once, waits and queues included. */
  readonly signal: AbortSignal | undefined;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** An earlier attempt, or an earlier request of the same call, may have taken effect. */
  readonly mayHaveTakenEffect: boolean;
  /** Told what the call waits for (a limit, `retry-after`, `retry`, `concurrency`), and undefined when it goes on. */
  readonly onWait?: ((waitingFor: string | undefined) => void) | undefined;
  /** Says whether the service has asked to wait since this attempt left the queue. */
  readonly isHeld?: (() => boolean) | undefined;
  readonly stats: RequestStats;
  /** What the call itself says of sending; undefined: its client decides. */
  readonly dryRun?: boolean | undefined;
}

/** A whole answer: either `json`, or, where the body is not JSON (`isJson` false), its `text`, which may be empty. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly text: string;
  readonly json: unknown;
  readonly isJson: boolean;
  /** Set by the auth stage on a 401 when a newer key can be asked for. */
  readonly canRenewKey?: boolean;
}

/** Sends a request and answers with whatever came; rejects with an AttemptFailure, or the signal's reason. */
export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/** Wraps a Send in one concern. */
export type Stage = (next: Send) => Send;

export type FailureKind =
  /** A whole answer with an error status. */
  | "status"
  /** A success whose body cannot be read. */
  | "broken"
  /** A success that came whole, without the body that is wanted. */
  | "empty"
  /** A success longer than allowed. */
  | "too-large"
  | "redirect"
  /** Given back before the first byte: the service asked to wait while it had no socket yet. */
  | "held"
  /** A test double has no answer to it. */
  | "unmocked"
  | "connection"
  | "timeout"
  | "aborted";

/** Why one attempt did not succeed. Never leaves the library: `errorFrom` makes the public error of it. */
export class AttemptFailure extends Error {
  readonly kind: FailureKind;
  /** Whether any byte of the request may have left. */
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

/** A batch was not sent: beside interactive calls only parts of it fit. Never leaves the library. */
export class BatchTooLarge extends Error {
  /** What a part may weigh. */
  readonly most: number;

  constructor(most: number) {
    super(`the batch must be cut to ${most}`);
    this.most = most;
  }
}

/** A transport that can be closed. */
export interface Transport {
  readonly send: Send;
  /** Ends its own sockets; a dispatcher that was handed in stays open, it is its owner's. */
  close(): Promise<void>;
}

/** All headers of a request, the key among them. */
export const headersOf = ({ headers, authorization }: HttpRequest): Readonly<Record<string, string>> =>
  authorization === undefined ? headers : { ...headers, authorization };

/** Whether the service itself says that there is no body; one that merely stays out may have been cut off. */
export const isWholeWithoutBody = ({ status, headers, text }: HttpResponse): boolean =>
  text === "" &&
  (status === 204 ||
    status === 205 ||
    headerOf(headers, "content-length") === "0" ||
    headerOf(headers, "transfer-encoding") !== undefined);
