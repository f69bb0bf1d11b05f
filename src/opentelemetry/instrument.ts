import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import {
  type Attributes,
  context,
  type MeterProvider,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { isTouchpointError } from "../errors.ts";
import type { AttemptTrace, CallTrace } from "../options/hooks.ts";
import { version } from "../options/version.ts";

/** The destinations of spans and metrics. */
export interface InstrumentOptions {
  /** The provider of tracers. Default: the global provider, even if it is set later. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** The provider of meters. Default: the global provider, which works only if the OpenTelemetry SDK started first. */
  readonly meterProvider?: MeterProvider | undefined;
}

// A tracing channel adds the error when the traced work fails.
type Ended<Trace> = Trace & { readonly error?: unknown };

const calls = tracingChannel<Span, CallTrace>("touchpoint:call");
const attempts = tracingChannel<unknown, AttemptTrace>("touchpoint:attempt");

// The semantic conventions recommend these histogram boundaries, in seconds.
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The attributes of an attempt at its start. */
const startOf = ({ origin, method, route }: AttemptTrace): Attributes => {
  const { hostname, port, protocol } = new URL(origin);
  return {
    "http.request.method": method,
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
    // Leave out the path itself: it may contain an email address, and ids in it would make too many different values.
    ...(route.startsWith("/") ? { "url.template": route } : {}),
  };
};

/** The attributes of an attempt at its end. */
const endOf = ({ status, failure }: AttemptTrace): Attributes => {
  const errorType = failure ?? (status !== undefined && status >= 400 ? String(status) : undefined);
  return {
    ...(status === undefined ? {} : { "http.response.status_code": status }),
    ...(errorType === undefined ? {} : { "error.type": errorType }),
  };
};

const resultOf = ({ status, attempts: count, error }: Ended<CallTrace>): Attributes => ({
  ...(status === undefined ? {} : { "http.response.status_code": status }),
  ...(count === undefined ? {} : { "touchpoint.attempts": count }),
  // Leave out the error's message, which may contain text from the service.
  ...(isTouchpointError(error) ? { "error.type": error.code, "touchpoint.outcome": error.outcome } : {}),
  ...(error === undefined || isTouchpointError(error) ? {} : { "error.type": "aborted" }),
});

/** Ends a span. An `error.type` among the attributes marks the span as failed. */
const end = (span: Span, attributes: Attributes): void => {
  span.setAttributes(attributes);
  if (attributes["error.type"] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};

const under = (span: Span | undefined) =>
  span === undefined ? context.active() : trace.setSpan(context.active(), span);

/**
 * Traces the calls of every client of this process with OpenTelemetry. Each call has a span, and each attempt of the
 * call has a span below it that follows the semantic conventions for HTTP clients. Two histograms record seconds:
 * `http.client.request.duration` the attempts, and `touchpoint.wait.duration` the waits of calls that succeed. Spans
 * and metrics contain neither the key nor personal data.
 *
 * @returns a function that stops the instrumentation.
 * @example
 * ```ts
 * import { instrument } from "touchpoint-sdk/opentelemetry";
 *
 * instrument();
 * ```
 */
export const instrument = (options: InstrumentOptions = {}): (() => void) => {
  const { tracerProvider = trace.getTracerProvider(), meterProvider = metrics.getMeterProvider() } = options;
  const tracer = tracerProvider.getTracer("touchpoint-sdk", version);
  const meter = meterProvider.getMeter("touchpoint-sdk", version);
  const seconds = { unit: "s", advice: { explicitBucketBoundaries: boundaries } };
  const durations = meter.createHistogram("http.client.request.duration", {
    description: "Duration of HTTP client requests.",
    ...seconds,
  });
  const waits = meter.createHistogram("touchpoint.wait.duration", {
    description: "Time that a call spent waiting for limits and in back-off.",
    ...seconds,
  });
  const spans = new WeakMap<object, Span>();
  // Holds the span of the running call, so that its attempts find it, even after waits.
  const current = new AsyncLocalStorage<Span>();

  const startCall = (call: CallTrace): Span => {
    const span = tracer.startSpan(call.operation, { attributes: { "touchpoint.operation": call.operation } });
    spans.set(call, span);
    return span;
  };
  // A subscriber's message has the type unknown. The channel `touchpoint:call` publishes a `CallTrace`.
  const endCall = (message: unknown): void => {
    const call = message as Ended<CallTrace>;
    const span = spans.get(call);
    if (span === undefined) return;
    end(span, resultOf(call));
    const { operation, waitedMs } = call;
    if (waitedMs !== undefined)
      waits.record(waitedMs / 1_000, { "touchpoint.operation": operation }, under(span));
  };
  const startAttempt = (message: unknown): void => {
    // The channel `touchpoint:attempt` publishes an `AttemptTrace`.
    const attempt = message as AttemptTrace;
    const { method, route, attempt: nth, operation } = attempt;
    const attributes = {
      ...startOf(attempt),
      "touchpoint.operation": operation,
      ...(nth > 1 ? { "http.request.resend_count": nth - 1 } : {}),
    };
    const name = route.startsWith("/") ? `${method} ${route}` : method;
    const parent = under(current.getStore());
    spans.set(attempt, tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent));
  };
  const endAttempt = (message: unknown): void => {
    // The channel `touchpoint:attempt` publishes an `AttemptTrace`.
    const attempt = message as AttemptTrace;
    const span = spans.get(attempt);
    if (span === undefined) return;
    const attributes = endOf(attempt);
    end(span, attributes);
    durations.record((attempt.durationMs ?? 0) / 1_000, { ...startOf(attempt), ...attributes }, under(span));
  };

  calls.start.bindStore(current, startCall);
  calls.asyncEnd.subscribe(endCall);
  attempts.start.subscribe(startAttempt);
  attempts.asyncEnd.subscribe(endAttempt);
  return () => {
    calls.start.unbindStore(current);
    calls.asyncEnd.unsubscribe(endCall);
    attempts.start.unsubscribe(startAttempt);
    attempts.asyncEnd.unsubscribe(endAttempt);
  };
};
