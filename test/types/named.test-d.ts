import { tracingChannel } from "node:diagnostics_channel";
import { metrics, trace } from "@opentelemetry/api";
import type { AttemptTrace, CallTrace, ClientOptions, SharedLimits } from "touchpoint-sdk";
import { instrument } from "touchpoint-sdk/opentelemetry";
import { type RedisCommands, redisLimits } from "touchpoint-sdk/redis";
import type { Clock, SandboxOptions } from "touchpoint-sdk/sandbox";
import { expectTypeOf, test } from "vitest";

declare const redis: RedisCommands;

test("limits that are shared have a type to be kept under", () => {
  const limits: SharedLimits = redisLimits(redis, { id: "crm" });
  expectTypeOf(limits).toExtend<NonNullable<ClientOptions["limits"]>>();
});

test("the messages of the tracing channels have types", () => {
  tracingChannel<string, CallTrace>("touchpoint:call").start.subscribe(() => undefined);
  expectTypeOf<CallTrace>().toHaveProperty("waitedMs").toEqualTypeOf<number | undefined>();
  expectTypeOf<AttemptTrace>().toHaveProperty("durationMs").toEqualTypeOf<number | undefined>();
});

test("OpenTelemetry's providers are taken, and nothing else", () => {
  instrument();
  instrument({ tracerProvider: trace.getTracerProvider(), meterProvider: metrics.getMeterProvider() });
  // @ts-expect-error a tracer is no provider
  instrument({ tracerProvider: trace.getTracer("own") });
  expectTypeOf(instrument).returns.toEqualTypeOf<() => void>();
});

test("the clock of a sandbox has a type", () => {
  expectTypeOf<SandboxOptions["clock"]>().toEqualTypeOf<Clock | undefined>();
});
