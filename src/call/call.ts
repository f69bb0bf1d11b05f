import type { ErrorDetails, Issue, Outcome } from "../errors.ts";
import type { Redactor } from "../http/auth.ts";
import { errorFrom } from "../http/error-from.ts";
import type { HttpResponse } from "../http/message.ts";
import type { RetryQuota } from "../http/retry.ts";
import { isCallWatched, traceCall } from "../http/tracing.ts";
import type { FailureNotes, Plan, Progress, Scope, Send } from "../http/types.ts";
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
import type { Operation, OperationFacts } from "../service/define.ts";
import { Answer, type ApiPromise, answer, type WithResponse } from "./api-promise.ts";
import { type CallInput, checkCallOptions, noPlan, severalRequests, type Waits } from "./request.ts";

/** One request that a scope makes. */
export interface Asked<Input, Output> {
  readonly operation: Operation<Input, Output>;
  readonly input: CallInput<Input>;
  readonly options: CallOptions | undefined;
  /** Set once its input was found to be valid. */
  scope: CallScope | undefined;
}

/** Runs one operation in a scope of its own: checks the input, sends, checks the response. */
export type Perform = <Input, Output>(
  parent: CallScope,
  asked: Asked<Input, Output>,
) => Promise<WithResponse<Output>>;

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
  readonly perform: Perform;
}

/** `client`: makes a scope for each call. `long`: its requests have limits of their own. `whole`: they share them. */
type Kind = "client" | "long" | "whole" | "request";

/** How a scope is made. */
interface Start {
  readonly kind: Kind;
  readonly operation: OperationFacts;
  readonly plan?: Plan | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly totalTimeoutMs?: number | undefined;
  readonly waits?: Waits | undefined;
}

// Requests in flight are awaited, so that their effect counts; but a callback or a store that hangs must not block the
// end.
const settlingMs = 1_000;

/**
 * One call: what it does, until when, whether anything of it may have happened, and what it took. A call of several
 * requests makes a child for each, which shares its signal and counts for its effect and its account.
 */
export class CallScope implements Scope {
  readonly context: CallContext;
  readonly operation: OperationFacts;
  readonly plan: Plan;
  readonly signal: AbortSignal | undefined;
  readonly deadlineAt: number | undefined;
  mayHaveTakenEffect = false;
  /** A 404 counted as done: an earlier attempt was unclear, or another program was first. */
  wasGone = false;
  attempts = 0;
  waitedMs = 0;
  /** The last response of an attempt that succeeded. */
  response: HttpResponse | undefined;
  /** The call that this is a part of, or that of a client's long work. */
  readonly #above: CallScope | undefined;
  /** The scope whose requests share `maxWaitMs`. */
  readonly #waits: CallScope;
  #waitLeftMs: number | undefined;
  readonly #kind: Kind;
  /** Whether its requests are parts of one call. */
  readonly isWhole: boolean;
  /** The signal that its options gave. */
  readonly #given: AbortSignal | undefined;
  /** Clears the timer and the listeners, because a signal that outlives the call must not collect them. */
  readonly release: (() => void) | undefined;
  /** Follows the waits of the long work that this is part of; such work leaves other calls the way. */
  readonly longWaits: Waits | undefined;

  /** The scope of a client, which makes those of its calls. */
  static of(context: CallContext): CallScope {
    return new CallScope(context, { kind: "client", operation: severalRequests("client") }, undefined);
  }

  private constructor(context: CallContext, start: Start, parent: CallScope | undefined) {
    const { kind, operation, plan = noPlan, signal, totalTimeoutMs, waits } = start;
    const { clock, lifetime } = context;
    // What a client's calls share is not part of any of them.
    const above = parent === undefined || parent.#kind === "client" ? undefined : parent;
    this.context = context;
    this.#kind = kind;
    this.isWhole = kind === "whole";
    this.operation = operation;
    this.plan = plan;
    this.#given = signal;
    this.longWaits = waits ?? above?.longWaits;
    this.#above = above;
    const isAbove = above !== undefined && (signal === above.#given || signal === above.signal);
    const ending = parent === undefined || above !== undefined ? above?.signal : lifetime.signal;
    const bound = kind === "client" ? undefined : context.deadline;
    const clientLeftMs = above === undefined && bound ? bound.at - clock.now() : undefined;
    const limits = { totalTimeoutMs, clientLeftMs, clock };
    const opened = openScope([isAbove ? undefined : signal, ending], limits);
    this.signal = opened.signal;
    this.release = opened.release;
    const isPart = above?.isWhole === true;
    this.#waits = isPart ? above : this;
    this.#waits.#waitLeftMs ??= plan.maxWaitMs;
    // What long work still has time for, its own signal says.
    const hasDeadline = totalTimeoutMs !== undefined && kind !== "long";
    if (hasDeadline) this.deadlineAt = clock.now() + totalTimeoutMs;
    else this.deadlineAt = isPart ? above.deadlineAt : undefined;
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

  get waitLeftMs(): number | undefined {
    return this.#waits.#waitLeftMs;
  }

  get progress(): Progress {
    return { operation: this.operation.id, attempts: this.attempts, outcome: this.outcome };
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
    const waits = this.#waits;
    if (waits.#waitLeftMs !== undefined) waits.#waitLeftMs -= ms;
  }

  /** Sends one request. */
  request<Input, Output>(
    operation: Operation<Input, Output>,
    input: CallInput<Input>,
    options?: CallOptions,
  ): ApiPromise<Output> {
    const read = options ? readOptions(options, callRules) : undefined;
    const asked: Asked<Input, Output> = { operation, input, options: read, scope: undefined };
    return answer(this.context.perform(this, asked), () => asked.scope?.outcome);
  }

  /** The scope of a request; `release` it when it has ended. */
  forRequest<Input, Output>({ operation, options }: Asked<Input, Output>, plan: Plan): CallScope {
    // The whole call has a time limit already, and a recorder's drain has none.
    const hasOwnLimit = !this.isWhole && !plan.isDrained;
    const totalTimeoutMs = hasOwnLimit
      ? (options?.totalTimeoutMs ?? this.context.settings.totalTimeoutMs)
      : undefined;
    return new CallScope(
      this.context,
      { kind: "request", operation, plan, signal: options?.signal, totalTimeoutMs },
      this,
    );
  }

  /**
   * Starts long work, such as an iteration: once the client is closed, it sends no more requests, although new calls are
   * possible. Work within a call is a part of it.
   */
  open(operation: string): CallScope {
    return this.#kind === "client" ? this.long(operation) : this;
  }

  /** Runs a call of several requests, which end together. A call within a call is a part of it. */
  async run<T>(
    operation: string,
    given: CallOptions | undefined,
    work: (scope: CallScope, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const options = readOptions(given, callRules);
    if (this.isWhole) return work(this, options);
    checkCallOptions(operation, options);
    const totalTimeoutMs = options?.totalTimeoutMs ?? this.context.settings.totalTimeoutMs;
    const start = { signal: options?.signal, totalTimeoutMs };
    const whole = this.#child("whole", operation, start);
    const taken = () => {
      const { response, attempts, waitedMs } = whole;
      return { status: response?.status, attempts, waitedMs };
    };
    const toEnd = (): Promise<T> => whole.untilEnd(() => work(whole, options));
    const result = await (isCallWatched() ? traceCall(operation, toEnd, taken) : toEnd());
    this.context.settings.log.debug("call", { operation, ...taken() });
    return result;
  }

  /** The scope of long work: only its own `totalTimeoutMs` limits all of it, and each request has the client's limits. */
  long(
    operation: string,
    options: Pick<CallOptions, "signal" | "totalTimeoutMs"> & { readonly waits?: Waits } = {},
  ): CallScope {
    return this.#child("long", operation, options);
  }

  /**
   * Waits before the next request or round of requests; those who follow the waits are told. Ends early if the client is
   * closed: the next request throws that, with the results so far.
   */
  async backOff(ms: number, waitingFor = "retry"): Promise<void> {
    const onWait = this.plan.onWait ?? this.longWaits?.listener();
    const before = this.clock.now();
    onWait?.(waitingFor);
    try {
      await this.clock.sleep(ms, this.signal);
    } catch (reason) {
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
    const whole = { ...details, ...this.progress } as unknown as Details;
    return new Class(`${this.operation.id}: ${message}`, whole);
  }

  fail(failed: unknown, notes?: FailureNotes): unknown {
    return errorFrom(failed, { call: this, wallTime: this.clock.wallTime(), ...notes });
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
    const found = issuesOf(operation.input, payload);
    if (found.length > 0 || workspace === undefined) return found;
    return untilAborted(workspace.inputIssues(operation, payload), this.signal);
  }

  /** The answer of a call: its data, with the last response of its requests. */
  answer<T>(work: Promise<T>): ApiPromise<T> {
    return answer(
      work.then((data) => new Answer(data, this)),
      () => this.outcome,
    );
  }

  #child(kind: Kind, operation: string, start: Omit<Start, "kind" | "operation">): CallScope {
    return new CallScope(this.context, { ...start, kind, operation: severalRequests(operation) }, this);
  }

  /** Runs the work of this scope until its end or its deadline; requests in flight are awaited then. */
  untilEnd<T>(work: (scope: CallScope) => Promise<T>): Promise<T> {
    const { signal, clock } = this;
    return new Promise((resolve, reject) => {
      let cancel: (() => void) | undefined;
      const unlink = whenAborted(signal, () => {
        if (signal?.reason instanceof DeadlineExceeded)
          cancel = clock.after(settlingMs, () => settle(() => reject(this.fail(signal.reason))));
      });
      const settle = (end: () => void): void => {
        cancel?.();
        unlink();
        this.release?.();
        end();
      };
      work(this).then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(this.fail(error))),
      );
    });
  }
}
