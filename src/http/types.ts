import type { HttpRequest, HttpResponse } from "./message.ts";
import type { Scope } from "./scope.ts";

/** Sends a request and resolves with any complete response; rejects with an AttemptFailure, or the signal's reason. */
export type Send = (scope: Scope, request: HttpRequest) => Promise<HttpResponse>;

/** One concern of sending. */
export type Stage = (scope: Scope, request: HttpRequest, next: Send) => Promise<HttpResponse>;

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
