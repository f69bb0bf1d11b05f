import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import { ApiError, isTouchpointError } from "../errors.ts";
import type { AttemptNotice, AttemptTrace, CallTrace, Hooks } from "../options/hooks.ts";
import type { Log } from "../options/logger.ts";
import type { Clock } from "../runtime/clock.ts";
import { hintOf, statusHint } from "./hints.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import type { Scope } from "./scope.ts";
import { AttemptFailure, type Send, type Stage } from "./types.ts";

/** Traces work like `tracePromise`, but without its result, because that contains personal data. */
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
  // tracePromise rejects with the work's own error, so there is one here.
  return result as Result;
};

const attempts = tracingChannel<string, AttemptTrace>("touchpoint:attempt");
const calls = tracingChannel<string, CallTrace>("touchpoint:call");

/** What a call has taken. */
interface Taken {
  readonly status: number | undefined;
  readonly attempts: number;
  readonly waitedMs: number;
}

/** Whether somebody may listen to the start and end of calls: Bun's channels do not say. */
export const isCallWatched = (): boolean => calls.hasSubscribers !== false;

/**
 * Runs a call, and publishes its start and end. What a user calls is one message, however many requests it takes.
 *
 * @param taken - what the call has taken, once it has succeeded.
 */
export const traceCall = <T>(
  operation: string,
  work: () => Promise<T>,
  taken: (result: T) => Taken,
): Promise<T> => {
  const trace: CallTrace = { operation };
  return withoutResult(calls, trace, async () => {
    try {
      const result = await work();
      const { status, attempts, waitedMs } = taken(result);
      Object.assign(trace, { status, attempts, waitedMs });
      return result;
    } catch (error) {
      if (isTouchpointError(error)) trace.attempts = error.attempts;
      if (error instanceof ApiError) trace.status = error.status;
      throw error;
    }
  });
};

export interface ObserveSettings {
  readonly origin: string;
  readonly hooks: Hooks;
  readonly log: Log;
  readonly clock: Clock;
  readonly quota: { has(): boolean };
}

const noticeOf = ({ operation, account }: Scope, { method }: HttpRequest): AttemptNotice => ({
  operation: operation.id,
  method,
  route: operation.path,
  attempt: account.attempts + 1,
});

const nameOf = (failure: unknown): string => {
  if (!(failure instanceof AttemptFailure)) return "aborted";
  const code: unknown = failure.kind === "connection" && Reflect.get(Object(failure.cause), "code");
  return typeof code === "string" ? code : failure.kind;
};

const hintField = (failure: unknown, operation: string): { readonly hint?: string } => {
  const isStatus = typeof failure === "number";
  const hint = isStatus
    ? statusHint(failure, operation)
    : failure instanceof AttemptFailure
      ? hintOf(failure, operation)
      : undefined;
  return hint === undefined ? {} : { hint };
};

/** Reports every attempt to hooks, log and tracing channel, without the key and without content. */
export const observe = ({ origin, hooks, log, clock, quota }: ObserveSettings): Stage => {
  const isAlwaysWatched =
    hooks.onRequest !== undefined || hooks.onResponse !== undefined || log.isOn("debug");
  const noteQuota = ({ plan }: Scope, trace: AttemptTrace): void => {
    if (plan.priority === "interactive" && !quota.has()) trace.quotaExhausted = true;
  };
  const watch = async (
    scope: Scope,
    trace: AttemptTrace,
    { request, next }: { readonly request: HttpRequest; readonly next: Send },
  ): Promise<HttpResponse> => {
    const since = clock.now();
    hooks.onRequest?.(noticeOf(scope, request));
    log.debug("request", { ...noticeOf(scope, request), path: request.path });
    try {
      const response = await next(scope, request);
      trace.status = response.status;
      trace.durationMs = clock.now() - since;
      if (response.status >= 500) noteQuota(scope, trace);
      const { operation, method, route, attempt, status, durationMs } = {
        ...trace,
        status: response.status,
        durationMs: trace.durationMs,
      };
      hooks.onResponse?.({ operation, method, route, attempt, status, durationMs });
      log.debug("response", { operation, attempt, status, durationMs, ...hintField(status, operation) });
      return response;
    } catch (failure) {
      trace.durationMs = clock.now() - since;
      trace.failure = nameOf(failure);
      noteQuota(scope, trace);
      log.debug("no response", {
        operation: trace.operation,
        attempt: trace.attempt,
        durationMs: trace.durationMs,
        ...hintField(failure, trace.operation),
      });
      throw failure;
    }
  };
  return function observeStage(scope, request, next) {
    if (!isAlwaysWatched && attempts.hasSubscribers === false) return next(scope, request);
    const trace: AttemptTrace = { ...noticeOf(scope, request), origin };
    return withoutResult(attempts, trace, () => watch(scope, trace, { request, next }));
  };
};
