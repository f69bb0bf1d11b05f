import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { AttemptNotice, AttemptTrace, Hooks } from "../options/hooks.ts";
import type { Log } from "../options/logger.ts";
import type { Clock } from "../runtime/clock.ts";
import { hintOf, statusHint } from "./hints.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";
import type { Scope } from "./scope.ts";
import { AttemptFailure, type Send, type Stage } from "./types.ts";

/** Traces work like `tracePromise`, but without its result, because that contains personal data. */
export const withoutResult = async <Trace extends object, Result>(
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

/** Whether there may be subscribers: Bun's channels do not say. */
export const isWatched = ({ hasSubscribers }: { readonly hasSubscribers: boolean | undefined }): boolean =>
  hasSubscribers !== false;

const attempts = tracingChannel<string, AttemptTrace>("touchpoint:attempt");

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
    if (!isAlwaysWatched && !isWatched(attempts)) return next(scope, request);
    const trace: AttemptTrace = { ...noticeOf(scope, request), origin };
    return withoutResult(attempts, trace, () => watch(scope, trace, { request, next }));
  };
};
