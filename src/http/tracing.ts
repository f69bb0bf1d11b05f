import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import { ApiError, isTouchpointError } from "../errors.ts";
import type { AttemptNotice, AttemptTrace, CallTrace } from "../options/hooks.ts";
import type { Settings } from "../options/options.ts";
import type { Clock } from "../runtime/clock.ts";
import { hintOf, statusHint } from "./hints.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import { AttemptFailure, type Send, type Sending, type Stage } from "./types.ts";

/** Does the same as `tracePromise`, but doesn't publish the result of the work, which contains personal data. */
const withoutResult = async <Trace extends object, Result>(
  channel: TracingChannel<string, Trace>,
  trace: Trace,
  work: () => Promise<Result>,
): Promise<Result> => {
  const results: Result[] = [];
  await channel.tracePromise(async () => {
    results.push(await work());
  }, trace);
  const [result] = results;
  // If the work had failed, tracePromise would have rejected, so there is a result.
  return result as Result;
};

const attempts = tracingChannel<string, AttemptTrace>("touchpoint:attempt");
const calls = tracingChannel<string, CallTrace>("touchpoint:call");

/** The numbers of a call. */
interface CallNumbers {
  readonly status: number | undefined;
  readonly attempts: number;
  readonly waitedMs: number;
}

/** Whether the channel of calls may have a subscriber. In Bun, `hasSubscribers` is undefined. */
export const isCallWatched = (): boolean => calls.hasSubscribers !== false;

/**
 * Runs a call, and publishes its start and end. A method call has one trace, however many requests it sends.
 *
 * @param numbersOf - returns the numbers of the call after its success.
 */
export const traceCall = <T>(
  operation: string,
  work: () => Promise<T>,
  numbersOf: (result: T) => CallNumbers,
): Promise<T> => {
  const trace: CallTrace = { operation };
  return withoutResult(calls, trace, async () => {
    try {
      const result = await work();
      const { status, attempts, waitedMs } = numbersOf(result);
      Object.assign(trace, { status, attempts, waitedMs });
      return result;
    } catch (error) {
      if (isTouchpointError(error)) trace.attempts = error.attempts;
      if (error instanceof ApiError) trace.status = error.status;
      throw error;
    }
  });
};

export interface ObserveSettings extends Pick<Settings, "origin" | "hooks" | "log"> {
  readonly clock: Clock;
  readonly quota: { has(): boolean };
}

const noticeOf = ({ operation, call }: Sending, { method }: HttpRequest): AttemptNotice => ({
  operation: operation.id,
  method,
  route: operation.path,
  attempt: call.attempts + 1,
});

const nameOf = (failure: unknown): string => {
  if (!(failure instanceof AttemptFailure)) return "aborted";
  const code: unknown = failure.kind === "connection" && Reflect.get(Object(failure.cause), "code");
  return typeof code === "string" ? code : failure.kind;
};

const withHint = (fields: object, hint: string | undefined): object =>
  hint === undefined ? fields : { ...fields, hint };

/** Reports every attempt to the hooks, the log and the tracing channel, without the API key and the content. */
export const observe = ({ origin, hooks, log, clock, quota }: ObserveSettings): Stage => {
  const isAlwaysWatched =
    hooks.onRequest !== undefined || hooks.onResponse !== undefined || log.isOn("debug");
  const noteQuota = ({ plan }: Sending, trace: AttemptTrace): void => {
    if (plan.priority === "interactive" && !quota.has()) trace.quotaExhausted = true;
  };
  const watch = async (
    sending: Sending,
    trace: AttemptTrace,
    { request, next }: { readonly request: HttpRequest; readonly next: Send },
  ): Promise<HttpResponse> => {
    const since = clock.now();
    const notice = noticeOf(sending, request);
    const { operation, attempt } = notice;
    hooks.onRequest?.({ ...notice });
    log.debug("request", { ...notice, path: request.path });
    try {
      const response = await next(sending, request);
      const { status } = response;
      const durationMs = clock.now() - since;
      Object.assign(trace, { status, durationMs });
      if (status >= 500) noteQuota(sending, trace);
      hooks.onResponse?.({ ...notice, status, durationMs });
      const fields = { operation, attempt, status, durationMs };
      log.debug("response", withHint(fields, statusHint(status, operation)));
      return response;
    } catch (failure) {
      const durationMs = clock.now() - since;
      Object.assign(trace, { durationMs, failure: nameOf(failure) });
      noteQuota(sending, trace);
      const hint = failure instanceof AttemptFailure ? hintOf(failure, operation) : undefined;
      log.debug("no response", withHint({ operation, attempt, durationMs }, hint));
      throw failure;
    }
  };
  return function observeStage(sending, request, next) {
    if (!isAlwaysWatched && attempts.hasSubscribers === false) return next(sending, request);
    const trace: AttemptTrace = { ...noticeOf(sending, request), origin };
    return withoutResult(attempts, trace, () => watch(sending, trace, { request, next }));
  };
};
