import type { OnceClaim } from "../ledger/send-once.ts";
import type { Clock } from "../runtime/clock.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { mayHaveTakenEffect } from "./retry-policy.ts";
import type { Scope } from "./scope.ts";
import { AttemptFailure, type Send, type Stage } from "./types.ts";

const notSent = (message: string, kind: "held" | "timeout"): AttemptFailure =>
  new AttemptFailure(kind, message, { wasSent: false });

/** Sends under a claim that was taken now. */
const sendClaimed = (
  scope: Scope,
  request: HttpRequest,
  { claimMs, next }: { readonly claimMs: number; readonly next: Send },
): Promise<HttpResponse> => {
  // The attempt has to end before its claim is that of a dead process.
  const attemptTimeoutMs = Math.floor(request.attemptTimeoutMs - claimMs);
  if (attemptTimeoutMs <= 0) throw notSent("the ledger took the whole of timeoutMs", "timeout");
  scope.signal?.throwIfAborted();
  if (request.admission?.isHeld) throw notSent("the service asked to wait while the key was claimed", "held");
  return next(scope, { ...request, attemptTimeoutMs });
};

const wasNotApplied = ({ operation }: Scope, response: HttpResponse): boolean => {
  const failure = new AttemptFailure("status", "", { wasSent: true, response });
  const isSuccess = response.status >= 200 && response.status < 300;
  return !isSuccess && !mayHaveTakenEffect(operation, failure);
};

interface Sending {
  readonly request: HttpRequest;
  readonly next: Send;
  readonly clock: Pick<Clock, "now">;
}

const sendOnce = async (
  claim: OnceClaim,
  scope: Scope,
  { request, next, clock }: Sending,
): Promise<HttpResponse> => {
  const since = clock.now();
  await claim.take({ ...scope.progress, limitMs: request.attemptTimeoutMs, signal: scope.signal });
  try {
    const response = await sendClaimed(scope, request, { claimMs: clock.now() - since, next });
    if (wasNotApplied(scope, response)) await claim.settle("not-sent");
    return response;
  } catch (failure) {
    // Any other error was thrown before the attempt was made.
    const maybe = failure instanceof AttemptFailure && mayHaveTakenEffect(scope.operation, failure);
    if (!maybe) await claim.settle("not-sent");
    throw failure;
  }
};

/**
 * Claims the send-once key of an email directly before its bytes, and releases it after an attempt that was not applied.
 * Innermost, and for emails only: whatever a call waits for, it waits without its key.
 */
export const claimOnce = (clock: Pick<Clock, "now">): Stage =>
  function claimOnceStage(scope, request, next) {
    const { once } = scope.plan;
    return once === undefined ? next(scope, request) : sendOnce(once, scope, { request, next, clock });
  };
