import type { OnceClaim } from "../ledger/send-once.ts";
import type { Clock } from "../runtime/clock.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { mayHaveTakenEffect } from "./retry-policy.ts";
import { AttemptFailure, type Send, type Sending, type Stage } from "./types.ts";

const notSent = (message: string, kind: "requeued" | "timeout"): AttemptFailure =>
  new AttemptFailure(kind, message, { wasSent: false });

const wasNotApplied = ({ operation }: Sending, response: HttpResponse): boolean => {
  const failure = new AttemptFailure("status", "", { wasSent: true, response });
  const isSuccess = response.status >= 200 && response.status < 300;
  return !isSuccess && !mayHaveTakenEffect(operation, failure);
};

/**
 * Claims the send-once key of an email directly before its bytes are sent, and releases it after an attempt that was
 * not applied. This stage is innermost, so that a call doesn't hold its key while it waits for a limit or a retry.
 */
export const claimOnce = (clock: Pick<Clock, "now">): Stage => {
  const sendOnce = async (
    claim: OnceClaim,
    sending: Sending,
    { request, next }: { readonly request: HttpRequest; readonly next: Send },
  ): Promise<HttpResponse> => {
    const startedAt = clock.now();
    await claim.take(sending.call, request.attemptTimeoutMs);
    try {
      // The claim has used up a part of the time. After `attemptTimeoutMs`, the ledger assumes that this process has
      // died.
      const attemptTimeoutMs = Math.floor(request.attemptTimeoutMs - (clock.now() - startedAt));
      if (attemptTimeoutMs <= 0) throw notSent("the ledger used up all of timeoutMs", "timeout");
      sending.call.signal?.throwIfAborted();
      if (request.admission?.mustWaitAgain)
        throw notSent("it has to wait for a limit again, since the key was claimed", "requeued");
      const response = await next(sending, { ...request, attemptTimeoutMs });
      if (wasNotApplied(sending, response)) await claim.settle("not-sent");
      return response;
    } catch (failure) {
      // An error that is not an AttemptFailure was thrown before the attempt, so the email was not sent.
      const mayBeSent = failure instanceof AttemptFailure && mayHaveTakenEffect(sending.operation, failure);
      if (!mayBeSent) await claim.settle("not-sent");
      throw failure;
    }
  };
  return function claimOnceStage(sending, request, next) {
    const { once } = sending.plan;
    return once === undefined ? next(sending, request) : sendOnce(once, sending, { request, next });
  };
};
