import type { ErrorDetails, Issue, Outcome } from "../errors.ts";
import type { Redactor } from "../http/auth.ts";
import { callErrorFrom } from "../http/error-from.ts";
import type { HttpResponse } from "../http/message.ts";
import type { RetryQuota } from "../http/retry.ts";
import { isCallWatched, traceCall } from "../http/tracing.ts";
import type { CallView, Plan, Progress, Send, Sending } from "../http/types.ts";
import type { ClientDeadline } from "../options/deadline.ts";
import type { CallOptions, Settings } from "../options/options.ts";
import { callRules } from "../options/validation.ts";
import {
  ClientClosed,
  DeadlineExceeded,
  type Lifetime,
  openScope,
  untilAborted,
  whenAborted,
} from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { readOptions } from "../runtime/rules.ts";
import { issuesOf } from "../service/check.ts";
import type { Operation } from "../service/define.ts";
import { Answer, type ApiPromise, answer } from "./api-promise.ts";
import { checkCallOptions, type Waits } from "./request.ts";

/** What the calls of a client have in common. */
export interface CallContext {
  readonly send: Send;
  readonly settings: Settings;
  readonly redactor: Pick<Redactor, "text" | "body">;
  readonly lifetime: Lifetime;
  /** When every call of the client has ended. */
  readonly deadline?: ClientDeadline | undefined;
  readonly clock: Clock;
  /** Limits the retries of all calls together. */
  readonly quota: Pick<RetryQuota, "draw">;
  /** 0 ≤ random() < 1. */
  readonly random: () => number;
}

/** The time of a call, which all of its requests spend together. */
interface CallLimits {
  /** The end of `totalTimeoutMs`, on the client's clock. */
  readonly deadlineAt: number | undefined;
  /** What is left of `maxWaitMs`; undefined: no limit, or no request has set it. */
  waitLeftMs: number | undefined;
}

/** How a call begins. */
interface Start {
  /** Its name in errors. */
  readonly operation: string;
  readonly signal?: AbortSignal | undefined;
  readonly totalTimeoutMs?: number | undefined;
  /** Long work has no limits that its requests share; it follows their waits. */
  readonly isLong?: boolean;
  readonly waits?: Waits | undefined;
}

// Requests in flight are awaited, so that their effect counts; but a callback or a store that hangs must not block the
// end.
const settlingMs = 1_000;

/**
 * One call: until when it runs, whether anything of it may have happened, and what it took. A call of several requests
 * has a child for each, which shares its signal and counts for its effect and its account. The call of a client is no
 * such parent: it only begins the others.
 */
export class Call implements CallView {
  readonly context: CallContext;
  readonly operation: string;
  readonly signal: AbortSignal | undefined;
  mayHaveTakenEffect = false;
  /** A 404 counted as done: an earlier attempt was unclear, or another program was first. */
  wasGone = false;
  attempts = 0;
  waitedMs = 0;
  /** The last response of an attempt that succeeded. */
  response: HttpResponse | undefined;
  /** The call that this is a part of. */
  readonly #above: Call | undefined;
  readonly #isOfClient: boolean;
  /** Undefined for a client and for long work, whose requests have limits of their own. */
  readonly #limits: CallLimits | undefined;
  /** Whether its requests are parts of one call: they share its limits, and the call is traced as one. */
  readonly isShared: boolean;
  /** The signal that its options gave. */
  readonly #ownSignal: AbortSignal | undefined;
  /** Clears the timer and the listeners, because a signal that outlives the call must not collect them. */
  readonly release: (() => void) | undefined;
  /** Follows the waits of the long work that this call is part of. Such work gives way to other calls. */
  readonly longWaits: Waits | undefined;

  /** The call of a client, through which every method of every resource goes. */
  static ofClient(context: CallContext): Call {
    return new Call(context, { operation: "client", isLong: true }, undefined);
  }

  private constructor(context: CallContext, start: Start, parent: Call | undefined) {
    const { operation, signal, totalTimeoutMs, isLong = false, waits } = start;
    const { clock, lifetime } = context;
    const above = parent === undefined || parent.#isOfClient ? undefined : parent;
    this.context = context;
    this.operation = operation;
    this.#isOfClient = parent === undefined;
    this.#above = above;
    this.#ownSignal = signal;
    this.isShared = !isLong;
    this.longWaits = waits ?? above?.longWaits;
    const isAbove = above !== undefined && (signal === above.#ownSignal || signal === above.signal);
    const ending = parent === undefined || above !== undefined ? above?.signal : lifetime.signal;
    const bound = parent === undefined ? undefined : context.deadline;
    const clientLeftMs = above === undefined && bound ? bound.at - clock.now() : undefined;
    const limits = { totalTimeoutMs, clientLeftMs, clock };
    const opened = openScope([isAbove ? undefined : signal, ending], limits);
    this.signal = opened.signal;
    this.release = opened.release;
    // Long work needs no limits here: its signal ends it in time.
    if (isLong) return;
    const deadlineAt = totalTimeoutMs === undefined ? undefined : clock.now() + totalTimeoutMs;
    this.#limits = (above === undefined ? undefined : above.#limits) ?? { deadlineAt, waitLeftMs: undefined };
  }

  get deadlineAt(): number | undefined {
    return this.#limits?.deadlineAt;
  }

  get waitLeftMs(): number | undefined {
    return this.#limits?.waitLeftMs;
  }

  get waitsEndAt(): number | undefined {
    return this.context.deadline?.waitsEndAt;
  }

  get clock(): Clock {
    return this.context.clock;
  }

  get outcome(): Outcome {
    return this.mayHaveTakenEffect ? "unknown" : "not-applied";
  }

  get progress(): Progress {
    return { operation: this.operation, attempts: this.attempts, outcome: this.outcome };
  }

  noteEffect(): void {
    this.mayHaveTakenEffect = true;
    this.#above?.noteEffect();
  }

  noteGone(): void {
    this.wasGone = true;
    this.#above?.noteGone();
  }

  attempted(response?: HttpResponse): void {
    this.attempts += 1;
    if (response !== undefined) this.response = response;
    this.#above?.attempted(response);
  }

  answered(response: HttpResponse): void {
    this.response = response;
    this.#above?.answered(response);
  }

  waited(ms: number): void {
    this.waitedMs += ms;
    this.#above?.waited(ms);
  }

  spendWait(ms: number): void {
    if (this.#limits?.waitLeftMs !== undefined) this.#limits.waitLeftMs -= ms;
  }

  /** Begins the call of one request; `release` it when it has ended. Within a call, it is a part of that. */
  begin(operation: string, plan: Plan, options: CallOptions | undefined): Call {
    // A call of several requests has a time limit already, and a recorder's drain has none.
    const hasOwnLimit = this.#limits === undefined && !plan.isDrained;
    const totalTimeoutMs = hasOwnLimit
      ? (options?.totalTimeoutMs ?? this.context.settings.totalTimeoutMs)
      : undefined;
    const call = new Call(this.context, { operation, signal: options?.signal, totalTimeoutMs }, this);
    if (call.#limits !== undefined) call.#limits.waitLeftMs ??= plan.maxWaitMs;
    return call;
  }

  /**
   * Starts long work, such as an iteration: once the client is closed, it sends no more requests, although new calls are
   * possible. Work within a call is a part of it.
   */
  open(operation: string): Call {
    return this.#isOfClient ? this.long(operation) : this;
  }

  /** Runs a call of several requests, which end together. A call within a call is a part of it. */
  async run<T>(
    operation: string,
    callOptions: CallOptions | undefined,
    work: (call: Call, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const options = readOptions(callOptions, callRules);
    if (this.isShared) return work(this, options);
    checkCallOptions(operation, options);
    const totalTimeoutMs = options?.totalTimeoutMs ?? this.context.settings.totalTimeoutMs;
    const call = new Call(this.context, { operation, signal: options?.signal, totalTimeoutMs }, this);
    const taken = () => {
      const { response, attempts, waitedMs } = call;
      return { status: response?.status, attempts, waitedMs };
    };
    const toEnd = (): Promise<T> => call.untilEnd(() => work(call, options));
    const result = await (isCallWatched() ? traceCall(operation, toEnd, taken) : toEnd());
    this.context.settings.log.debug("call", { operation, ...taken() });
    return result;
  }

  /** Long work: only its own `totalTimeoutMs` limits all of it, and each request has the client's limits. */
  long(
    operation: string,
    options: Pick<CallOptions, "signal" | "totalTimeoutMs"> & { readonly waits?: Waits } = {},
  ): Call {
    return new Call(this.context, { ...options, operation, isLong: true }, this);
  }

  async backOff(
    ms: number,
    waitingFor = "retry",
    onWait: Plan["onWait"] = this.longWaits?.listener(),
  ): Promise<void> {
    const before = this.clock.now();
    onWait?.(waitingFor);
    try {
      await this.clock.sleep(ms, this.signal);
    } catch (reason) {
      // The next request throws it, with the results so far.
      if (!(reason instanceof ClientClosed)) throw reason;
    } finally {
      onWait?.(undefined);
    }
    this.waited(this.clock.now() - before);
  }

  error<Details extends ErrorDetails, Made>(
    Class: new (message: string, details: Details) => Made,
    message: string,
    details: Omit<Details, keyof Progress>,
  ): Made {
    // What was left out of the details.
    const complete = { ...details, ...this.progress } as unknown as Details;
    return new Class(`${this.operation}: ${message}`, complete);
  }

  /** Reports invalid responses to the log and `onValidationIssue`; also faults of several responses together. */
  report(operation: string, issues: readonly Issue[]): void {
    const { log, hooks } = this.context.settings;
    log.warn("response does not fit", { operation, fields: issues.map(({ path }) => path) });
    hooks.onValidationIssue?.({ operation, issues });
  }

  /** What is wrong with an input that was read; a promise only if the workspace has schemas. */
  issues<Input>(
    operation: Operation<Input, unknown>,
    payload: Input,
  ): readonly Issue[] | Promise<readonly Issue[]> {
    const { workspace } = this.context.settings;
    const faults = issuesOf(operation.input, payload);
    if (faults.length > 0 || workspace === undefined) return faults;
    return untilAborted(workspace.inputIssues(operation, payload), this.signal);
  }

  /** The answer of a call: its data, with the last response of its requests. */
  answer<T>(work: Promise<T>): ApiPromise<T> {
    return answer(
      work.then((data) => new Answer(data, this)),
      () => this.outcome,
    );
  }

  /** Runs the work of this call until its end or its deadline; requests in flight are awaited then. */
  untilEnd<T>(work: (call: Call) => Promise<T>): Promise<T> {
    const { signal, clock } = this;
    return new Promise((resolve, reject) => {
      let cancel: (() => void) | undefined;
      const fail = (reason: unknown): void => reject(callErrorFrom(reason, this.progress));
      const unlink = whenAborted(signal, () => {
        if (signal?.reason instanceof DeadlineExceeded)
          cancel = clock.after(settlingMs, () => settle(() => fail(signal.reason)));
      });
      const settle = (end: () => void): void => {
        cancel?.();
        unlink();
        this.release?.();
        end();
      };
      work(this).then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => fail(error)),
      );
    });
  }
}

/** One operation with its plan, and the call that it belongs to. */
export interface CallSending<Input, Output> extends Sending {
  readonly operation: Operation<Input, Output>;
  readonly call: Call;
}
