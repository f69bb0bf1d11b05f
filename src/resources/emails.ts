import { type ApiPromise, answer, type WithResponse } from "../call/api-promise.ts";
import type { Call } from "../call/call.ts";
import { readPayload, sendRequest } from "../call/executor.ts";
import { isTouchpointError } from "../errors.ts";
import { keepable } from "../ledger/rules.ts";
import type { CallOptions } from "../options/options.ts";
import { callRules } from "../options/validation.ts";
import { type Paged, type PagingOptions, paged } from "../paging/paged.ts";
import { bindMethods } from "../runtime/bound-methods.ts";
import { inTime, untilAborted } from "../runtime/cancellation.ts";
import { toHeaders } from "../runtime/headers.ts";
import { must, mustBeBoolean, type Rules, readOptions, refuseFaults, ruleFaults } from "../runtime/rules.ts";
import type { Operation } from "../service/define.ts";
import type {
  EmailInput,
  ScheduledEmail,
  ScheduledEmailInput,
  ScheduledEmailPatch,
  ScheduledEmailQuery,
  ScheduledEmailUpdated,
  SentEmail,
} from "../service/emails.ts";
import { operations } from "../service/operations.ts";

/** Options of a send. */
export interface SendOptions extends CallOptions {
  /**
   * Your own key, for example `welcome:42`: at most one email is sent under it. A later call with the key, in any process
   * that shares the ledger, returns the first receipt and sends nothing.
   */
  readonly once?: string | undefined;
  /**
   * `true`: checks the email, sends nothing and claims no key. Returns an email whose `id` starts with `dry-run:`, and the
   * `request` that would be sent. Default: the client's.
   */
  readonly dryRun?: boolean | undefined;
}

/** The options of a send, and the parts in which `emails.send` and `emails.schedule` differ. */
interface EmailSend<Input, Output> {
  readonly options: SendOptions;
  /** Creates the receipt for a key that a person settled without one. */
  readonly settledReceipt: (email: Input) => Output;
}

const longestKey = 512;

const isOnceKey = (key: unknown): boolean =>
  typeof key === "string" && key.trim() !== "" && key.length <= longestKey && key.isWellFormed();

const sendRules: Rules = {
  ...callRules,
  once: must(`a text of at most ${longestKey} characters that is not blank`, isOnceKey),
  dryRun: mustBeBoolean,
};

/** Scheduled emails. Use it as `client.emails.scheduled`. */
export class ScheduledEmails {
  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    this.#call = call;
    bindMethods(this);
  }

  /**
   * Lists the scheduled emails. The document does not say whether these include emails that were sent, so check the `status`.
   *
   * Inferred, because the document gives no method and no response: `GET /api/v1/emails/scheduled`, which returns a page or an
   * array. The option `routes` corrects method and path.
   *
   * @param query - `skip` and `limit`, as for every list of the service.
   * @returns await it for one page, iterate it for every scheduled email.
   * @throws RateLimitError when the service requires a wait longer than `maxRetryAfterMs`.
   * @example
   * ```ts
   * for await (const { id, sendAt } of client.emails.scheduled.list()) console.log(id, sendAt);
   * ```
   * Scope: none documented. Source: service document, Emails, "can be listed"; Limits, paging.
   */
  list(query: ScheduledEmailQuery = {}, options: CallOptions & PagingOptions = {}): Paged<ScheduledEmail> {
    return paged(this.#call, operations.emails.scheduledList, query, options);
  }

  /**
   * Changes the given fields of a scheduled email.
   *
   * Inferred, because the document gives no method, body or response: `PATCH /api/v1/emails/scheduled/:id` with the fields to
   * change, which returns the email or nothing. The option `routes` corrects method and path.
   *
   * @returns the email; only its `id` if the response is empty.
   * @throws NotFoundError when the workspace has no scheduled email with the id.
   * @throws BadRequestError when the service would refuse the changed email.
   * @example
   * ```ts
   * await client.emails.scheduled.update("email-1", { sendAt: new Date(Date.now() + 3_600_000) });
   * ```
   * Scope: `email:write`. Source: service document, Emails, "can be changed".
   */
  update(id: string, patch: ScheduledEmailPatch, options?: CallOptions): ApiPromise<ScheduledEmailUpdated> {
    return sendRequest(this.#call, operations.emails.scheduledUpdate, { id, payload: patch }, options);
  }

  /**
   * Cancels a scheduled email.
   *
   * Inferred, because the document gives no method and no response: `DELETE /api/v1/emails/scheduled/:id`, with any success
   * as its response. The option `routes` corrects method and path.
   *
   * After a lost response the cancel is retried; a retry that gets a 404 counts as done. If the service confirms the cancel,
   * the email's `once` key is free again. After a lost response, or if the service no longer knows the email, the email may
   * have been sent: calls with the key are then refused until you call `ledger.settle`.
   *
   * @throws NotFoundError when the workspace has no scheduled email with the id.
   * @example
   * ```ts
   * await client.emails.scheduled.cancel("email-1");
   * ```
   * Scope: `email:write`. Source: service document, Emails, "can be cancelled".
   */
  cancel(id: string, options?: CallOptions): ApiPromise<void> {
    const { id: operation } = operations.emails.scheduledCancel;
    const call = this.#call.open(operation);
    const cancelled = call.run(operation, options, (part, read) => this.#cancel(id, part, read));
    return answer(call.context.lifetime.hold(cancelled), () => call.outcome);
  }

  async #cancel(id: string, call: Call, options: CallOptions): Promise<WithResponse<void>> {
    const input = { id, payload: undefined };
    try {
      const { response } = await sendRequest(
        call,
        operations.emails.scheduledCancel,
        input,
        options,
      ).withResponse();
      // A dry run makes no attempts, and cancels nothing.
      if (response.attempts > 0) await this.#settle(id, call.wasGone ? "unknown" : "not-sent", call);
      return { data: undefined, response };
    } catch (error) {
      const isUnclear = call.mayHaveTakenEffect || (isTouchpointError(error) && error.code === "not_found");
      if (isUnclear) await this.#settle(id, "unknown", call);
      throw error;
    }
  }

  /** Settles the email's `once` key. Ignores a failure, because a key that stays taken is safe: calls with it send nothing. */
  async #settle(id: string, as: "not-sent" | "unknown", { signal, context }: Call): Promise<void> {
    const { ledger, timeoutMs: limitMs } = context.settings;
    if (ledger.settleScheduled === undefined) return;
    const settling = (async () => ledger.settleScheduled?.(id, as))();
    // `close` waits for the ledger, even if the signal has ended the call.
    const settled = context.lifetime.hold(inTime(settling, { limitMs, clock: context.clock }));
    await untilAborted(settled, signal).catch(() => undefined);
  }
}

/** One-to-one emails. Use it as `client.emails`. */
export class Emails {
  /** Lists, changes and cancels emails that are scheduled for later. */
  readonly scheduled: ScheduledEmails;
  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    this.#call = call;
    this.scheduled = new ScheduledEmails(call);
    bindMethods(this);
  }

  /**
   * Sends one email to one person, now. The call is never retried after the email may have been sent.
   *
   * @param options - `once`: at most one email is sent under this key, across calls, crashes and processes. A later call
   * with the key returns the first receipt, with `response.attempts` 0; its `id` is empty if you settled the key without
   * a receipt. If this process is already sending under the key with the same ledger, the call gets the response of that
   * send. A dry run (`dryRun: true` here, in the client's options, or in the environment) sends nothing, claims no key, and
   * returns an email whose `id` starts with `dry-run:`, with the `request` that would be sent.
   * @throws ValidationError when both or neither of `html` and `text` are given, and when `sendAt` is given.
   * @throws RecipientRefusedError when `recipients.allow` or `TOUCHPOINT_RECIPIENTS` does not cover the recipient.
   * @throws BadRequestError when the recipient is on the do-not-email list, or in a refused stage without `force`, or the
   * mail account is not connected.
   * @throws NotFoundError when the workspace has no such signature.
   * @throws RateLimitError when the mail account reached its daily limit, or the wait would be longer than
   * `maxRetryAfterMs`; the email was not sent.
   * @throws MailAccountError when the mail account refused or failed to send; the email was not sent.
   * @throws SendOnceError when the `once` key refuses the email: another call is sending it now (`once_pending`), the result
   * of an earlier call is unknown (`once_unknown`: look the email up, then call `ledger.settle`), or the key belongs to a
   * different email (`once_mismatch`).
   * @example
   * ```ts
   * const email = { to: "ada@example.com", subject: "Welcome", text: "Good to have you." };
   * const { id, sentAt } = await client.emails.send(email, { once: "welcome:42" });
   * ```
   * Scope: `email:write`. Source: service document, Emails, send rules 1–5.
   */
  send(email: EmailInput, options: SendOptions = {}): ApiPromise<SentEmail> {
    const emptyFields = {
      cc: [],
      from: "",
      sentAt: "",
      tracked: false,
      contactId: "",
      contactCreated: false,
    };
    const settledReceipt = ({ to, subject }: EmailInput) => ({ id: "", to, subject, ...emptyFields });
    return this.#send(operations.emails.send, email, { options, settledReceipt });
  }

  /**
   * Schedules one email to one person. The service sends it within about a minute after `sendAt`, after it has checked the
   * email again. The call is never retried after the service may have accepted the email.
   *
   * @param email - as for `send`, with `sendAt`: a Date, or an ISO 8601 string with a time zone.
   * @param options - `once` as for `send`. `sendAt` is part of the email, so repeat a call with the same time.
   * @throws the same as `send`, and ValidationError when `sendAt` is missing or has no time zone.
   * @example
   * ```ts
   * const { id } = await client.emails.schedule({
   *   to: "ada@example.com",
   *   subject: "Your trial ends tomorrow",
   *   text: "See you soon.",
   *   sendAt: new Date(Date.now() + 86_400_000),
   * });
   * ```
   * Scope: `email:write`. Source: service document, Emails, send rule 6, and States and transitions.
   */
  schedule(email: ScheduledEmailInput, options: SendOptions = {}): ApiPromise<ScheduledEmail> {
    const settledReceipt = ({ sendAt }: ScheduledEmailInput) => ({
      id: "",
      status: "SCHEDULED",
      sendAt: String(sendAt),
    });
    return this.#send(operations.emails.schedule, email, { options, settledReceipt });
  }

  #send<Input extends object, Output>(
    operation: Operation<Input, Output>,
    email: Input,
    sending: EmailSend<Input, Output>,
  ): ApiPromise<Output> {
    const sendOptions = readOptions(sending.options, sendRules);
    const { once, dryRun, ...options } = sendOptions;
    let payload: Input;
    try {
      refuseFaults(operation.id, ruleFaults(sendOptions, sendRules));
      payload = readPayload(operation, email);
    } catch (error) {
      return answer<Output>(Promise.reject(error));
    }
    const { isAlwaysDry, isDry } = this.#call.context.settings.emailGuards;
    // In a dry run the email guard responds instead of the service.
    if (once === undefined || isAlwaysDry || (dryRun ?? isDry))
      return sendRequest(this.#call, operation, { payload, plan: { dryRun } }, options);
    const call = this.#call.open(operation.id);
    const sent = call.run(operation.id, options, (part) =>
      this.#sendOnce(operation, payload, {
        ...sending,
        options: { ...options, dryRun },
        call: part,
        key: once,
      }),
    );
    return answer(call.context.lifetime.hold(sent), () => call.outcome);
  }

  async #sendOnce<Input extends object, Output>(
    operation: Operation<Input, Output>,
    payload: Input,
    sending: EmailSend<Input, Output> & { readonly call: Call; readonly key: string },
  ): Promise<WithResponse<Output>> {
    const { call, key } = sending;
    const { sendAt }: { readonly sendAt?: unknown } = payload;
    const { dryRun, ...callOptions } = sending.options;
    const { settings, redactor } = call.context;
    settings.emailGuards.check(operation.id, payload, true);
    // Loaded with the first `once` key, not with the package.
    const { sendOnce } = await import("../ledger/send-once.ts");
    const result = await sendOnce<WithResponse<Output>>({
      ...{ key, ledger: settings.ledger, caller: call, log: settings.log },
      limitMs: callOptions.timeoutMs ?? settings.timeoutMs,
      email: payload,
      send: (once) =>
        sendRequest(call, operation, { payload, plan: { dryRun, once } }, callOptions).withResponse(),
      receiptOf: ({ data }) => redactor.body(keepable({ sendAt, ...data })),
    });
    if ("sent" in result) return result.sent;
    return {
      // This method stored the receipt under the same fingerprint. It is missing if a person settled the key without one.
      data: (result.receipt ?? sending.settledReceipt(payload)) as Output,
      response: { status: 200, headers: toHeaders({}), attempts: 0, waitedMs: 0 },
    };
  }
}
