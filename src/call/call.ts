import type { ErrorDetails, Issue, Outcome } from "../errors.ts";
import type { Redactor } from "../http/auth.ts";
import { callErrorFrom } from "../http/error-from.ts";
import type { HttpResponse } from "../http/message.ts";
import type { RetryQuota } from "../http/retry.ts";
import { isCallWatched, traceCall } from "../http/tracing.ts";
import type { CallView, Plan, Progress, Send } from "../http/types.ts";
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

/** The parts that all calls of a client share. */
export interface CallContext {
  readonly send: Send;
  readonly settings: Settings;
  readonly redactor: Pick<Redactor, "text" | "body">;
  readonly lifetime: Lifetime;
  /** When every call of the client must have ended. */
  readonly deadline?: ClientDeadline | undefined;
  readonly clock: Clock;
  /** Limits the retries of all calls together. */
  readonly quota: Pick<RetryQuota, "draw">;
  /** 0 ≤ random() < 1. */
  readonly random: () => number;
}

/** The time limits of a call, which all of its requests share. */
interface CallLimits {
  /** The end of `totalTimeoutMs`, on the client's clock. */
  readonly deadlineAt: number | undefined;
  /** The remaining part of `maxWaitMs`; undefined if there is no limit, or if no request has set it yet. */
  waitLeftMs: number | undefined;
}

/** The settings of a new call. */
interface CallStart {
  /** The name of the call in errors. */
  readonly operation: string;
  readonly signal?: AbortSignal | undefined;
  readonly totalTimeoutMs?: number | undefined;
  /** Whether the call is long work. Its requests don't share limits. */
  readonly isLong?: boolean;
  readonly waits?: Waits | undefined;
}

// After its deadline, a call waits this long for its requests in flight, so that it counts their effects. The limit
// keeps a hanging callback or store from blocking the call.
const settlingMs = 1_000;

/**
 * One call: its time limits, whether it may have taken effect, its number of attempts and its waits. A call with
 * several requests has a child call for each of them. A child shares its parent's signal, and reports its effect,
 * attempts and waits to the parent. A client also has a call. It creates the calls of the client's methods, but is not
 * their parent.
 */
export class Call implements CallView {
  readonly context: CallContext;
  readonly operation: string;
  readonly signal: AbortSignal | undefined;
  mayHaveTakenEffect = false;
  /**
   * Whether a 404 counted as success, because an earlier attempt may have been applied. That is not certain: another
   * program may have been first.
   */
  wasGone = false;
  attempts = 0;
  waitedMs = 0;
  /** The response of the last successful attempt. */
  response: HttpResponse | undefined = undefined;
  /** The call that this call is a part of; undefined if it is no part of another call. */
  readonly #parent: Call | undefined;
  readonly #isOfClient: boolean;
  /** The time limits; undefined for a client and for long work, whose requests have their own limits. */
  readonly #limits: CallLimits | undefined;
  /**
   * Whether the requests share the limits of this call and are traced as one call. False for long work and for a
   * client, whose requests have their own limits and traces.
   */
  readonly sharesLimits: boolean;
  /** The signal in the options of the call. */
  readonly #ownSignal: AbortSignal | undefined;
  /** Removes the timer and the listeners, so that they don't accumulate on a signal that outlives the call. */
  readonly release: (() => void) | undefined;
  /**
   * Receives the waits of the long work that this call is part of; undefined if nothing watches them. If it is set,
   * requests have background priority by default.
   */
  readonly longWaits: Waits | undefined;

  /** Creates the call of a client, which creates the calls of its methods. */
  static ofClient(context: CallContext): Call {
    return new Call(context, { operation: "client", isLong: true }, undefined);
  }

  private constructor(context: CallContext, start: CallStart, creator: Call | undefined) {
    const { operation, signal, totalTimeoutMs, isLong = false, waits } = start;
    const { clock, lifetime } = context;
    const parent = creator === undefined || creator.#isOfClient ? undefined : creator;
    this.context = context;
    this.operation = operation;
    this.#isOfClient = creator === undefined;
    this.#parent = parent;
    this.#ownSignal = signal;
    this.sharesLimits = !isLong;
    this.longWaits = waits ?? parent?.longWaits;
    const isInherited = parent !== undefined && (signal === parent.#ownSignal || signal === parent.signal);
    const outerSignal = creator === undefined || parent !== undefined ? parent?.signal : lifetime.signal;
    const clientDeadline = creator === undefined ? undefined : context.deadline;
    const clientLeftMs = parent === undefined && clientDeadline ? clientDeadline.at - clock.now() : undefined;
    const limits = { totalTimeoutMs, clientLeftMs, clock };
    const scope = openScope([isInherited ? undefined : signal, outerSignal], limits);
    this.signal = scope.signal;
    this.release = scope.release;
    // Long work passes no limits to its requests. Its signal ends it in time.
    if (isLong) return;
    const deadlineAt = totalTimeoutMs === undefined ? undefined : clock.now() + totalTimeoutMs;
    this.#limits = (parent === undefined ? undefined : parent.#limits) ?? {
      deadlineAt,
      waitLeftMs: undefined,
    };
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
    this.#parent?.noteEffect();
  }

  noteGone(): void {
    this.wasGone = true;
    this.#parent?.noteGone();
  }

  attempted(response?: HttpResponse): void {
    this.attempts += 1;
    if (response !== undefined) this.response = response;
    this.#parent?.attempted(response);
  }

  answered(response: HttpResponse): void {
    this.response = response;
    this.#parent?.answered(response);
  }

  waited(ms: number): void {
    this.waitedMs += ms;
    this.#parent?.waited(ms);
  }

  spendWait(ms: number): void {
    if (this.#limits?.waitLeftMs !== undefined) this.#limits.waitLeftMs -= ms;
  }

  /**
   * Creates the call of one request, as a part of this call, unless this call is a client's. At the end, the caller
   * must call `release` on the new call.
   */
  begin(operation: string, plan: Plan, options: CallOptions | undefined): Call {
    // A call with several requests already has a time limit. The requests of a recorder have none.
    const hasOwnLimit = this.#limits === undefined && !plan.isDrained;
    const totalTimeoutMs = hasOwnLimit
      ? (options?.totalTimeoutMs ?? this.context.settings.totalTimeoutMs)
      : undefined;
    const call = new Call(this.context, { operation, signal: options?.signal, totalTimeoutMs }, this);
    if (call.#limits !== undefined) call.#limits.waitLeftMs ??= plan.maxWaitMs;
    return call;
  }

  /**
   * Starts long work, such as an iteration, if this is the call of a client. Closing the client ends the work for good,
   * although the client itself can be used again. Any other call is returned unchanged: the work becomes a part of it.
   */
  open(operation: string): Call {
    return this.#isOfClient ? this.long(operation) : this;
  }

  /** Runs a call with several requests, which share its time limits. */
  async run<T>(
    operation: string,
    callOptions: CallOptions | undefined,
    work: (call: Call, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const options = readOptions(callOptions, callRules);
    checkCallOptions(operation, options);
    const totalTimeoutMs = options?.totalTimeoutMs ?? this.context.settings.totalTimeoutMs;
    const call = new Call(this.context, { operation, signal: options?.signal, totalTimeoutMs }, this);
    const numbers = () => {
      const { response, attempts, waitedMs } = call;
      return { status: response?.status, attempts, waitedMs };
    };
    const toEnd = (): Promise<T> => call.untilEnd(() => work(call, options));
    const result = await (isCallWatched() ? traceCall(operation, toEnd, numbers) : toEnd());
    this.context.settings.log.debug("call", { operation, ...numbers() });
    return result;
  }

  /**
   * Creates long work. Only its own `totalTimeoutMs` and the client's deadline limit the complete work. Each request
   * has its own limits.
   */
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
      // If the client was closed, only end the wait: the next request throws ClientClosed, together with the results so
      // far. Throw any other reason now.
      if (!(reason instanceof ClientClosed)) throw reason;
    } finally {
      onWait?.(undefined);
    }
    this.waited(this.clock.now() - before);
  }

  error<Details extends ErrorDetails, Created>(
    Class: new (message: string, details: Details) => Created,
    message: string,
    details: Omit<Details, keyof Progress>,
  ): Created {
    // `progress` adds the details that the type of `details` omits.
    const complete = { ...details, ...this.progress } as unknown as Details;
    return new Class(`${this.operation}: ${message}`, complete);
  }

  /** Reports the faults of a response, or of several responses together, to the log and to `onValidationIssue`. */
  report(operation: string, issues: readonly Issue[]): void {
    const { log, hooks } = this.context.settings;
    log.warn("invalid response", { operation, fields: issues.map(({ path }) => path) });
    hooks.onValidationIssue?.({ operation, issues });
  }

  /**
   * Finds the faults of an input. If the operation's schema finds none, the checks of the workspace (schemas and
   * `unknownFields`) follow, and the result is a promise.
   */
  issues<Input>(
    operation: Operation<Input, unknown>,
    payload: Input,
  ): readonly Issue[] | Promise<readonly Issue[]> {
    const { workspace } = this.context.settings;
    const faults = issuesOf(operation.input, payload);
    if (faults.length > 0 || workspace === undefined) return faults;
    return untilAborted(workspace.inputIssues(operation, payload), this.signal);
  }

  /** Creates the promise of a call: its data, with the response of its last successful request. */
  answer<T>(work: Promise<T>): ApiPromise<T> {
    return answer(
      work.then((data) => new Answer(data, this)),
      () => this.outcome,
    );
  }

  /**
   * Runs the work of this call until its end or its deadline. At the deadline, it waits briefly for requests in flight.
   */
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
