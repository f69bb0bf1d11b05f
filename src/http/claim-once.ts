import type { OnceClaim } from "../ledger/send-once.ts";
import type { Clock } from "../runtime/clock.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { mayHaveTakenEffect } from "./retry-policy.ts";
import { AttemptFailure, type Scope, type Send, type Stage } from "./types.ts";

const notSent = (message: string, kind: "held" | "timeout"): AttemptFailure =>
  new AttemptFailure(kind, message, { wasSent: false });

const wasNotApplied = ({ operation }: Scope, response: HttpResponse): boolean => {
  const failure = new AttemptFailure("status", "", { wasSent: true, response });
  const isSuccess = response.status >= 200 && response.status < 300;
  return !isSuccess && !mayHaveTakenEffect(operation, failure);
};

/**
 * Claims the send-once key of an email directly before its bytes, and releases it after an attempt that was not applied.
 * Innermost, and for emails only: whatever a call waits for, it waits without its key.
 */
export const claimOnce = (clock: Pick<Clock, "now">): Stage => {
  const sendOnce = async (
    claim: OnceClaim,
    scope: Scope,
    { request, next }: { readonly request: HttpRequest; readonly next: Send },
  ): Promise<HttpResponse> => {
    const since = clock.now();
    await claim.take(scope, request.attemptTimeoutMs);
    try {
      // The attempt has to end before its claim is that of a dead process.
      const attemptTimeoutMs = Math.floor(request.attemptTimeoutMs - (clock.now() - since));
      if (attemptTimeoutMs <= 0) throw notSent("the ledger took the whole of timeoutMs", "timeout");
      scope.signal?.throwIfAborted();
      if (request.admission?.isHeld)
        throw notSent("it has to wait for a limit again, since the key was claimed", "held");
      const response = await next(scope, { ...request, attemptTimeoutMs });
      if (wasNotApplied(scope, response)) await claim.settle("not-sent");
      return response;
    } catch (failure) {
      // Any other error was thrown before the attempt was made.
      const maybe = failure instanceof AttemptFailure && mayHaveTakenEffect(scope.operation, failure);
      if (!maybe) await claim.settle("not-sent");
      throw failure;
    }
  };
  return function claimOnceStage(scope, request, next) {
    const { once } = scope.plan;
    return once === undefined ? next(scope, request) : sendOnce(once, scope, { request, next });
  };
};
