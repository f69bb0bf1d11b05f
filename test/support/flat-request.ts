import type { ErrorDetails } from "../../src/errors.ts";
import { errorFrom } from "../../src/http/error-from.ts";
import type * as http from "../../src/http/message.ts";
import type * as sending from "../../src/http/types.ts";
import type { Priority } from "../../src/options/priority.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { BudgetName, Method, OperationFacts, ReplayClass } from "../../src/service/define.ts";

export * from "../../src/http/message.ts";
export * from "../../src/http/types.ts";

/** What a request has cost and shown so far. */
interface Stats {
  attempts: number;
  waitedMs: number;
  mayHaveTakenEffect: boolean;
  wasGone?: boolean;
}

/** A request and what its scope knows, in one object: a test replaces any part of it. */
export interface HttpRequest {
  readonly operation: string;
  readonly method: Method;
  readonly route: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly authorization?: string | undefined;
  readonly body: string | undefined;
  readonly replay: ReplayClass;
  readonly notFoundMeansDone: boolean;
  readonly mayBeEmpty: boolean;
  readonly budgets: readonly BudgetName[];
  readonly stopsAlone?: boolean;
  readonly weight: number;
  readonly priority: Priority;
  readonly waits?: { leftMs: number } | undefined;
  readonly isDrained?: boolean | undefined;
  readonly isDivisible?: boolean | undefined;
  readonly deadlineAt?: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  readonly attempt: number;
  readonly mayHaveTakenEffect: boolean;
  readonly onWait?: ((waitingFor: string | undefined) => void) | undefined;
  readonly isHeld?: (() => boolean) | undefined;
  readonly stats: Stats;
  readonly dryRun?: boolean | undefined;
  /** Times its back-off. */
  readonly clock?: Pick<Clock, "now" | "sleep">;
}

export type Send = (request: HttpRequest) => Promise<http.HttpResponse>;

class FlatScope implements sending.Scope {
  readonly flat: HttpRequest;
  readonly operation: OperationFacts;
  readonly plan: sending.Plan;
  readonly signal: AbortSignal | undefined;
  readonly deadlineAt: number | undefined;
  mayHaveTakenEffect: boolean;
  attempts: number;

  constructor(flat: HttpRequest) {
    const { method, budgets, notFoundMeansDone, mayBeEmpty } = flat;
    this.flat = flat;
    this.operation = {
      ...{ id: flat.operation, method, path: flat.route, scope: [], budgets },
      isEmail: flat.operation.startsWith("emails."),
      ...{ notFoundMeansDone, mayBeEmpty, stopsAlone: flat.stopsAlone ?? false },
    };
    this.plan = {
      ...{ replay: flat.replay, weight: flat.weight, priority: flat.priority },
      ...{ maxRetries: flat.maxRetries, onWait: flat.onWait, once: undefined, maxWaitMs: undefined },
      ...{ isDrained: flat.isDrained ?? false, isDivisible: flat.isDivisible ?? false, dryRun: flat.dryRun },
    };
    this.signal = flat.signal;
    this.deadlineAt = flat.deadlineAt;
    this.mayHaveTakenEffect = flat.stats.mayHaveTakenEffect || flat.mayHaveTakenEffect;
    this.attempts = Math.max(flat.stats.attempts, flat.attempt - 1);
  }

  get waitLeftMs(): number | undefined {
    return this.flat.waits?.leftMs;
  }

  get progress(): sending.Progress {
    const outcome = this.mayHaveTakenEffect ? "unknown" : "not-applied";
    return { operation: this.operation.id, attempts: this.attempts, outcome };
  }

  noteEffect(): void {
    this.mayHaveTakenEffect = true;
    this.flat.stats.mayHaveTakenEffect = true;
  }

  noteGone(): void {
    this.flat.stats.wasGone = true;
  }

  attempted(): void {
    this.attempts += 1;
    this.flat.stats.attempts = this.attempts;
  }

  answered(): void {}

  waited(ms: number): void {
    this.flat.stats.waitedMs += ms;
  }

  spendWait(ms: number): void {
    if (this.flat.waits !== undefined) this.flat.waits.leftMs -= ms;
  }

  async backOff(ms: number): Promise<void> {
    const { clock, onWait } = this.flat;
    if (clock === undefined) throw new Error("a test that waits gives a clock");
    const before = clock.now();
    onWait?.("retry");
    await clock.sleep(ms, this.signal).catch(() => undefined);
    onWait?.(undefined);
    this.waited(clock.now() - before);
  }

  error<Details extends ErrorDetails, Made>(
    Class: new (message: string, details: Details) => Made,
    message: string,
    details: Omit<Details, keyof sending.Progress>,
  ): Made {
    // What was left out of the details.
    const whole = { ...details, ...this.progress } as unknown as Details;
    return new Class(`${this.operation.id}: ${message}`, whole);
  }

  fail(failed: unknown, notes?: sending.FailureNotes): unknown {
    return errorFrom(failed, { call: this, wallTime: 0, ...notes });
  }
}

/** A request as a test writes it, as its scope and what is sent. */
export const unfold = (flat: HttpRequest): [sending.Scope, http.HttpRequest] => {
  const { method, path, headers, body, authorization, attemptTimeoutMs, isHeld } = flat;
  const admission = isHeld && {
    get isHeld() {
      return isHeld();
    },
  };
  return [new FlatScope(flat), { method, path, headers, body, attemptTimeoutMs, authorization, admission }];
};

const fold = (scope: sending.Scope, request: http.HttpRequest): HttpRequest => {
  if (!(scope instanceof FlatScope)) throw new Error("not made by a test");
  const { admission, ...sent } = request;
  const { attempts, mayHaveTakenEffect, flat } = scope;
  return {
    ...flat,
    ...sent,
    attempt: attempts + 1,
    mayHaveTakenEffect,
    isHeld: admission && (() => admission.isHeld),
  };
};

/** A transport for requests as tests write them. */
export const flatSend =
  (send: sending.Send): Send =>
  (flat) =>
    send(...unfold(flat));

/** A stage over a transport, for requests as tests write them. */
export const flatStage =
  (stage: sending.Stage) =>
  (next: Send): Send =>
    flatSend((scope, request) => stage(scope, request, (below, sent) => next(fold(below, sent))));
