import { Call } from "../../src/call/call.ts";
import type { HttpRequest, HttpResponse } from "../../src/http/message.ts";
import { RetryQuota } from "../../src/http/retry.ts";
import { AttemptFailure, type FailureKind, type Plan, type Send, type Stage } from "../../src/http/types.ts";
import { type ClientOptions, settingsFrom } from "../../src/options/options.ts";
import { Lifetime } from "../../src/runtime/cancellation.ts";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { retryAfterMs } from "../../src/runtime/headers.ts";
import type { BudgetName, OperationFacts } from "../../src/service/define.ts";

/** The properties of a sending that a test specifies. All others are those of a plain read. */
export interface SendingSpec extends Partial<Omit<Plan, "once">>, Partial<Omit<HttpRequest, "path">> {
  /** The id of the operation. */
  readonly operation?: string;
  readonly path?: string;
  readonly budgets?: readonly BudgetName[];
  readonly stopsAlone?: boolean;
  readonly notFoundMeansDone?: boolean;
  readonly mayBeEmpty?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly totalTimeoutMs?: number;
  /** An earlier attempt may have taken effect. */
  readonly mayHaveTakenEffect?: boolean;
  /** The call that contains this one. Both share limits and are counted together. */
  readonly within?: Call;
  readonly clock?: Clock;
}

/** Sends what a test specifies. */
export type SendSpec = (spec?: SendingSpec) => Promise<HttpResponse>;

const options: ClientOptions = { apiKey: "key", baseUrl: "https://service.test" };

/** The call of a client without a pipeline. */
export const clientCall = (clock: Clock, send?: Send, overrides: ClientOptions = options): Call =>
  Call.ofClient({
    clock,
    settings: { ...settingsFrom({ ...options, ...overrides }, {}), totalTimeoutMs: undefined },
    lifetime: new Lifetime(),
    redactor: { text: (text) => text, body: (body) => body },
    quota: new RetryQuota(),
    // The highest random number gives the longest backoff.
    random: () => 1,
    send: send ?? (() => Promise.reject(new Error("this call sends nothing"))),
  });

const clientCalls = new WeakMap<Clock, Call>();

const clientCallOn = (clock: Clock): Call => {
  const call = clientCalls.get(clock) ?? clientCall(clock);
  clientCalls.set(clock, call);
  return call;
};

/** Creates a sending with its operation, call and request. */
export const aSending = (spec: SendingSpec = {}) => {
  const {
    operation: id = "contacts.list",
    method = "GET",
    path = "/api/v1/contacts",
    budgets = ["requests"],
  } = spec;
  const operation: OperationFacts = {
    ...{ id, method, path, scope: [], budgets, isEmail: id.startsWith("emails.") },
    ...{ notFoundMeansDone: spec.notFoundMeansDone ?? false, mayBeEmpty: spec.mayBeEmpty ?? false },
    stopsAlone: spec.stopsAlone ?? false,
  };
  const plan: Plan = {
    ...{ replay: spec.replay ?? "safe", weight: spec.weight ?? 1, priority: spec.priority ?? "interactive" },
    ...{ maxRetries: spec.maxRetries ?? 4, maxWaitMs: spec.maxWaitMs, onWait: spec.onWait },
    ...{ isDrained: spec.isDrained ?? false, isDivisible: spec.isDivisible ?? false },
    ...{ dryRun: spec.dryRun, once: undefined },
  };
  const { signal, totalTimeoutMs } = spec;
  const timed = totalTimeoutMs === undefined ? {} : { totalTimeoutMs };
  const parent = spec.within ?? clientCallOn(spec.clock ?? systemClock);
  const call = parent.begin(id, plan, { ...(signal && { signal }), ...timed });
  if (spec.mayHaveTakenEffect) call.noteEffect();
  const request: HttpRequest = {
    ...{ method, path, headers: spec.headers ?? {}, body: spec.body },
    ...{ attemptTimeoutMs: spec.attemptTimeoutMs ?? 30_000 },
    ...{ authorization: spec.authorization, admission: spec.admission },
  };
  return { sending: { operation, plan, call }, request };
};

/** Wraps a transport, so that a test can send a `SendingSpec`. */
export const bySpec =
  (send: Send): SendSpec =>
  (spec) => {
    const { sending, request } = aSending(spec);
    return send(sending, request).finally(() => sending.call.release?.());
  };

/** Puts a stage over a transport, so that a test can send a `SendingSpec`. */
export const through = (stage: Stage, next: Send): SendSpec =>
  bySpec((sending, request) => stage(sending, request, next));

/** A complete response. A string body is sent as it is, not as JSON. */
export const anAnswer = (
  status: number,
  body: unknown = { error: "no" },
  headers: HttpResponse["headers"] = {},
): HttpResponse =>
  typeof body === "string"
    ? { status, headers, text: body, json: undefined, isJson: false, retryAfterMs: retryAfterMs(headers, 0) }
    : { status, headers, text: "", json: body, isJson: true, retryAfterMs: retryAfterMs(headers, 0) };

/** An attempt without a complete response. */
export const aFailure = (kind: FailureKind, wasSent: boolean, response?: HttpResponse): AttemptFailure =>
  new AttemptFailure(kind, `a ${kind}`, { wasSent, ...(response && { response }) });

/** An attempt with an error status. */
export const aStatus = (status: number, body?: unknown, headers?: HttpResponse["headers"]): AttemptFailure =>
  aFailure("status", true, anAnswer(status, body, headers));
