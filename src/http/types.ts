import type { Outcome } from "../errors.ts";
import type { BudgetName, Method, ReplayClass } from "../service/define.ts";

/** Headers as they came: names in lower case, repeated ones as an array. */
export type RawHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a call has cost so far; the stages add to it while the call goes on. */
export interface CallLog {
  attempts: number;
  waitedMs: number;
  /** An attempt may have had its effect although it did not succeed. */
  isUnclear: boolean;
  /** Told what the call waits for (a limit, `retry-after`, `retry`, `concurrency`), and undefined when it goes on. */
  readonly onWait?: ((waitingFor: string | undefined) => void) | undefined;
  /** So may an earlier request of the same call. */
  readonly wasUnclear?: boolean | undefined;
  /** Says whether the service has asked to wait since the last attempt was let go. */
  gate?: { readonly isHeld: boolean } | undefined;
  /** How often the client had been closed when the call began. */
  closings?: number;
}

/** One call on its way down; the auth stage adds `authorization`, in a copy. */
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
  readonly absentIsDone: boolean;
  readonly mayBeEmpty: boolean;
  readonly budgets: readonly BudgetName[];
  /** How much of the last of `budgets` it spends. */
  readonly weight: number;
  /** Ends the call at once, waits and queues included. */
  readonly signal: AbortSignal | undefined;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  readonly log: CallLog;
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

/** A transport that can be closed. */
export interface Transport {
  readonly send: Send;
  /** Ends its own sockets; a dispatcher that was handed in stays open, it is its owner's. */
  close(): Promise<void>;
}

/** A call from before a closing opens no new sockets, whatever it was waiting for. */
export const closedFailure = (): AttemptFailure =>
  new AttemptFailure("connection", "the client was closed", { wasSent: false });

/** The reason with which a call's own signal aborts when its total time is up. */
export class TotalTimeout extends Error {
  readonly totalTimeoutMs: number;

  constructor(totalTimeoutMs: number) {
    super(`the call took longer than totalTimeoutMs (${totalTimeoutMs} ms)`);
    this.totalTimeoutMs = totalTimeoutMs;
  }
}

/** What the attempts so far say about the whole call. */
export const outcomeOf = ({ log, replay }: Pick<HttpRequest, "log" | "replay">): Outcome =>
  log.wasUnclear || (log.isUnclear && replay !== "safe") ? "unknown" : "not-applied";

/** All headers of a request, the key among them. */
export const headersOf = ({ headers, authorization }: HttpRequest): Readonly<Record<string, string>> =>
  authorization === undefined ? headers : { ...headers, authorization };

/** A header's value; the first one when it came several times. */
export const headerOf = (headers: RawHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === "object" ? value[0] : value;
};

/** Whether the service itself says that there is no body; one that merely stays out may have been cut off. */
export const isWholeWithoutBody = ({ status, headers, text }: HttpResponse): boolean =>
  text === "" &&
  (status === 204 ||
    status === 205 ||
    headerOf(headers, "content-length") === "0" ||
    headerOf(headers, "transfer-encoding") !== undefined);

/** Raw headers as the platform's `Headers`; a value that it refuses is left out. */
export const toHeaders = (raw: RawHeaders): Headers => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const item of typeof value === "string" ? [value] : (value ?? [])) {
      try {
        headers.append(name, item);
      } catch {
        // Bytes that are no legal header value tell nobody anything.
      }
    }
  }
  return headers;
};
