import { type TracingChannel, tracingChannel } from "node:diagnostics_channel";
import type { AttemptNotice, AttemptTrace, Hooks } from "../options/hooks.ts";
import type { Log } from "../options/logger.ts";
import type { Clock } from "../runtime/clock.ts";
import { AttemptFailure, type HttpRequest, type HttpResponse, type Send, type Stage } from "./types.ts";

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

const noticeOf = (request: HttpRequest): AttemptNotice => ({
  operation: request.operation,
  method: request.method,
  route: request.route,
  attempt: request.attempt,
});

const nameOf = (failure: unknown): string => {
  if (!(failure instanceof AttemptFailure)) return "aborted";
  const code: unknown = failure.kind === "connection" && Reflect.get(Object(failure.cause), "code");
  return typeof code === "string" ? code : failure.kind;
};

/** Reports every attempt to hooks, log and tracing channel, without the key and without content. */
export const observe = ({ origin, hooks, log, clock, quota }: ObserveSettings): Stage => {
  const isAlwaysWatched =
    hooks.onRequest !== undefined || hooks.onResponse !== undefined || log.isOn("debug");
  const noteQuota = ({ priority }: HttpRequest, trace: AttemptTrace): void => {
    if (priority === "interactive" && !quota.has()) trace.quotaExhausted = true;
  };
  const watch = async (next: Send, request: HttpRequest, trace: AttemptTrace): Promise<HttpResponse> => {
    const since = clock.now();
    hooks.onRequest?.(noticeOf(request));
    log.debug("request", { ...noticeOf(request), path: request.path });
    try {
      const response = await next(request);
      trace.status = response.status;
      trace.durationMs = clock.now() - since;
      if (response.status >= 500) noteQuota(request, trace);
      const { operation, method, route, attempt, status, durationMs } = {
        ...trace,
        status: response.status,
        durationMs: trace.durationMs,
      };
      hooks.onResponse?.({ operation, method, route, attempt, status, durationMs });
      log.debug("response", { operation, attempt, status, durationMs });
      return response;
    } catch (failure) {
      trace.durationMs = clock.now() - since;
      trace.failure = nameOf(failure);
      noteQuota(request, trace);
      log.debug("no answer", {
        operation: trace.operation,
        attempt: trace.attempt,
        durationMs: trace.durationMs,
      });
      throw failure;
    }
  };
  return (next) =>
    function observeStage(request) {
      if (!isAlwaysWatched && !isWatched(attempts)) return next(request);
      const trace: AttemptTrace = { ...noticeOf(request), origin };
      return withoutResult(attempts, trace, () => watch(next, request, trace));
    };
};
