import { ConnectionError, isTouchpointError, SendOnceError, TimeoutError } from "../errors.ts";
import { DeadlineExceeded, inTime, type Lifetime, untilAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { contentHash, contentText } from "../runtime/content-hash.ts";
import { jsonCopy, messageOf, parsedJson } from "../runtime/values.ts";
import type { ClaimLedger, LedgerClaim, LedgerLog, Settlement, TakenKey } from "./ledger.ts";
import { keepable } from "./rules.ts";

/** A call that sends an email, or one request of such a call. Its signal ends every wait. */
interface OnceCaller {
  readonly progress: { readonly operation: string };
  readonly signal: AbortSignal | undefined;
  /** Creates an error with the facts of the call. */
  error(
    Class: typeof ConnectionError,
    message: string,
    details: { readonly cause: unknown },
  ): ConnectionError;
}

/** One email under a key, and how to send it. */
export interface OnceCall<Sent> {
  readonly key: string;
  /** The content of the email. No other email may be sent under the key. */
  readonly email: object;
  readonly ledger: ClaimLedger;
  readonly caller: OnceCaller & {
    readonly clock: Pick<Clock, "after" | "wallTime" | "sleep">;
    /** The client's lifetime. `close` waits for the work that it holds. */
    readonly context: { readonly lifetime: Pick<Lifetime, "hold" | "signal"> };
    /** Notes that the call may have sent the email. */
    noteEffect(): void;
  };
  /** The limit for each read and each settlement of the key, in milliseconds. `OnceClaim.take` has its own limit. */
  readonly limitMs: number;
  /** The log for the warning that a receipt could not be stored. */
  readonly log: LedgerLog;
  /** Sends the email. Calls `claim.take` directly before the first byte of each attempt. */
  send(claim: OnceClaim): Promise<Sent>;
  /** The receipt for the ledger, without the API key, because the ledger may be a file. */
  receiptOf(sent: Sent): unknown;
}

// The waits add up to about two minutes, the time that the failover of a database may take.
const receiptWaitsMs = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 50_000];

/**
 * Whether an error is an AdapterFault, whose message explains what to change. Doesn't use `instanceof`, because another
 * copy of the package may have thrown the error.
 */
const isAdapterFault = (error: unknown): boolean =>
  isTouchpointError(error) && error.code === "configuration_invalid" && Object(error).isAdapterFault === true;

/** Creates the error for a failed request to a ledger before an email is sent. */
const ledgerError = (caller: OnceCaller, error: unknown, limitMs: number): unknown => {
  if (isAdapterFault(error)) return error;
  const isLate = error instanceof DeadlineExceeded;
  const what = isLate ? `did not respond within timeoutMs, ${limitMs} ms` : `failed (${messageOf(error)})`;
  const cause = isLate ? undefined : error;
  return caller.error(ConnectionError, `the ledger ${what}. Nothing was sent.`, { cause });
};

/**
 * Thrown if another call has claimed the key first. Internal: the caller gets the receipt of the other call, or a
 * SendOnceError.
 */
export class KeyTaken extends Error {
  readonly taken: TakenKey;

  constructor(taken: TakenKey) {
    super("another call has claimed the key");
    this.taken = taken;
  }
}

/**
 * The claim of one email on its key. Each attempt takes the claim directly before its first byte, and releases it if
 * the service did not apply the attempt.
 */
export class OnceClaim {
  readonly #call: OnceCall<unknown>;
  readonly #fingerprint: string;
  #claim: string | undefined;
  /** The result of the attempt under the claim, as far as it is known. */
  #as: Settlement = "unknown";

  constructor(call: OnceCall<unknown>, fingerprint: string) {
    this.#call = call;
    this.#fingerprint = fingerprint;
  }

  get key(): string {
    return this.#call.key;
  }

  /**
   * Claims the key for one attempt of a request.
   *
   * @param limitMs - how long to wait for the ledger, and how long the claim stays pending. If it is not settled by
   * then, the key becomes unknown.
   * @throws KeyTaken when another call was first.
   */
  async take(attempt: OnceCaller, limitMs: number): Promise<void> {
    const { ledger, key, caller } = this.#call;
    // If an earlier release failed, this call still has the claim: release it first.
    await this.settle();
    const operation = attempt.progress.operation;
    const claiming = (async () => ledger.claim(key, this.#fingerprint, { operation, limitMs }))();
    let claim: LedgerClaim;
    try {
      // Limit the wait for the ledger, because a waiting request keeps its permits of the limits, and delays close().
      claim = await inTime(claiming, { limitMs, signal: attempt.signal, clock: caller.clock });
    } catch (error) {
      // If the claim arrives after the caller has stopped waiting, release it.
      const release = (late: LedgerClaim): unknown =>
        late.state === "claimed" && ledger.settle(key, "not-sent", { claim: late.claim });
      const releasing = inTime(claiming.then(release), { limitMs, clock: caller.clock });
      caller.context.lifetime.hold(releasing).catch(() => undefined);
      if (attempt.signal?.aborted) throw attempt.signal.reason;
      throw ledgerError(attempt, error, limitMs);
    }
    if (claim.state !== "claimed") throw new KeyTaken(claim);
    this.#claim = claim.claim;
    this.#as = "unknown";
  }

  /**
   * Settles the claim, if there is one. A failure of the ledger does not change the result of the call.
   *
   * @param as - the result of the attempt. Default: the result so far.
   */
  async settle(as: Settlement = this.#as, receipt?: unknown): Promise<void> {
    this.#as = as;
    const claim = this.#claim;
    if (claim === undefined) return;
    const { ledger, key, caller } = this.#call;
    const { limitMs } = this.#call;
    const settling = (async () => ledger.settle(key, as, { claim, receipt }))();
    // `close` waits for the settlement, even if the caller has stopped waiting.
    const settled = caller.context.lifetime.hold(inTime(settling, { limitMs, clock: caller.clock }));
    try {
      await untilAborted(settled, caller.signal);
      this.#claim = undefined;
    } catch {
      // `#claim` is still set, so the next attempt or the end of the call tries again. After a sent email, neither
      // follows, so retry here. A key that is never settled becomes unknown when the time limit of its claim ends.
      if (as === "sent")
        caller.context.lifetime.hold(this.#settleAgain(claim, receipt)).catch(() => undefined);
    }
  }

  /** Tries to store a receipt again, until the ledger stores it, the client is closed, or all waits are over. */
  async #settleAgain(claim: string, receipt: unknown): Promise<void> {
    const { ledger, key, limitMs, caller, log } = this.#call;
    const { signal } = caller.context.lifetime;
    for (const waitMs of receiptWaitsMs) {
      // After the client is closed, try one last time.
      await caller.clock.sleep(waitMs, signal).catch(() => undefined);
      try {
        const settling = (async () => ledger.settle(key, "sent", { claim, receipt }))();
        await inTime(settling, { limitMs, clock: caller.clock });
        return;
      } catch {
        if (signal.aborted) break;
      }
    }
    const name = JSON.stringify(key);
    log.warn(
      `${caller.progress.operation}: The email was sent, but the ledger could not store its receipt. Call ledger.settle(${name}, "sent").`,
      { key },
    );
  }
}

/**
 * The result of sending the email, or the receipt of an earlier call. `receipt` is undefined if a person settled the
 * key without one.
 */
export type OnceResult<Sent> = { readonly sent: Sent } | { readonly receipt: unknown };

/** An email that this process is sending. */
interface Flight {
  readonly fingerprint: string;
  readonly since: number;
  readonly result: Promise<OnceResult<unknown>>;
}

/**
 * The emails that this process is sending, by ledger and key, so that clients with the same ledger share their calls.
 */
const flights = new WeakMap<ClaimLedger, Map<string, Flight>>();

const flightsOf = (ledger: ClaimLedger): Map<string, Flight> => {
  const existing = flights.get(ledger);
  if (existing !== undefined) return existing;
  const created = new Map<string, Flight>();
  flights.set(ledger, created);
  return created;
};

/** Identifies an email by the hashes of its fields. The order of the fields doesn't matter. */
const emailFingerprint = (email: object): string => {
  // Copy the email in the form in which it is sent, so that equal emails have equal hashes.
  const fields = Object.entries(Object(jsonCopy(email)));
  return contentText(Object.fromEntries(fields.map(([name, value]) => [name, contentHash(value)])));
};

/** The names of the fields in which two emails differ; undefined if they are the same. */
const differingFields = (before: string, now: string): string[] | undefined => {
  if (before === now) return undefined;
  // A custom ledger may return any text.
  const a: Record<string, unknown> = Object(parsedJson(before));
  const b: Record<string, unknown> = Object(parsedJson(now));
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].filter((name) => a[name] !== b[name]);
};

const checkSame = (
  { caller, key }: OnceCall<unknown>,
  { fingerprint, since }: Pick<TakenKey, "fingerprint" | "since">,
  current: string,
): void => {
  const differs = differingFields(fingerprint, current);
  if (differs === undefined) return;
  const operation = caller.progress.operation;
  const fields = differs.length > 0 ? ` (differs in ${differs.join(", ")})` : "";
  throw new SendOnceError(
    `${operation}: ${JSON.stringify(key)} belongs to a different email${fields}. Nothing was sent.`,
    { operation, code: "once_mismatch", key, since, differs },
  );
};

const refusal = ({ caller, key }: OnceCall<unknown>, { state, since }: TakenKey): SendOnceError => {
  const operation = caller.progress.operation;
  const name = JSON.stringify(key);
  const origin = `started with the key ${name} at ${new Date(since).toISOString()}`;
  const details = { operation, outcome: "unknown", key, since } as const;
  if (state === "pending")
    return new SendOnceError(
      `${operation}: another call, ${origin}, is sending the email now. This call sent nothing. Try again later.`,
      { ...details, code: "once_pending" },
    );
  return new SendOnceError(
    `${operation}: an earlier call, ${origin}, may have sent the email; the ledger does not know. ` +
      `This call sent nothing. Find out whether the email was sent, then call ledger.settle(${name}, "sent") or ledger.settle(${name}, "not-sent").`,
    { ...details, code: "once_unknown" },
  );
};

/**
 * The receipt of the email that was sent under the key.
 *
 * @throws SendOnceError if the key belongs to another email, or is pending or unknown.
 */
const earlierReceipt = (
  call: OnceCall<unknown>,
  taken: TakenKey,
  fingerprint: string,
): { readonly receipt: unknown } => {
  checkSame(call, taken, fingerprint);
  if (taken.state === "sent") return { receipt: keepable(taken.receipt) };
  throw refusal(call, taken);
};

/** Reads the key before anything else, because a receipt or a refusal must not wait for a rate limit. */
const readKey = async (call: OnceCall<unknown>): Promise<TakenKey | undefined> => {
  const { ledger, key, caller } = call;
  if (ledger.read === undefined) return undefined;
  const { limitMs } = call;
  const { signal, clock } = caller;
  try {
    // Limit the wait, because a locked table or a hanging database must not block the call.
    return await inTime((async () => ledger.read?.(key))(), {
      limitMs,
      signal,
      clock,
      waitingFor: "the ledger",
    });
  } catch (error) {
    throw signal?.aborted ? error : ledgerError(caller, error, limitMs);
  }
};

const sendUnderKey = async <Sent>(call: OnceCall<Sent>, fingerprint: string): Promise<OnceResult<Sent>> => {
  const taken = await readKey(call);
  if (taken !== undefined) return earlierReceipt(call, taken, fingerprint);
  const claim = new OnceClaim(call, fingerprint);
  try {
    const sent = await call.send(claim);
    await claim.settle("sent", call.receiptOf(sent));
    return { sent };
  } catch (error) {
    if (error instanceof KeyTaken) return earlierReceipt(call, error.taken, fingerprint);
    await claim.settle();
    throw error;
  }
};

/** Whether a call ended because of its own caller: by a signal or a deadline. Other callers can then send the email. */
const isOwnEnding = (error: unknown): boolean => !isTouchpointError(error) || error instanceof TimeoutError;

/**
 * Sends an email under a key. The key is in the ledger before the email is sent. A later call with the key gets the
 * first receipt. Simultaneous calls in this process get the result of the first call.
 *
 * @throws SendOnceError when the key belongs to a different email, when another call is sending the email, and while it
 * is unknown whether the email was sent.
 */
export const sendOnce = async <Sent>(call: OnceCall<Sent>): Promise<OnceResult<Sent>> => {
  const fingerprint = emailFingerprint(call.email);
  const { ledger, key, caller } = call;
  const inFlight = flightsOf(ledger);
  for (;;) {
    caller.signal?.throwIfAborted();
    const other = inFlight.get(key);
    if (other === undefined) break;
    checkSame(call, other, fingerprint);
    try {
      const ending = untilAborted(other.result, caller.signal, `another call with ${JSON.stringify(key)}`);
      // Both calls have the same operation: `checkSame` has found the same email, and only scheduled ones have `sendAt`.
      return (await ending) as OnceResult<Sent>;
    } catch (error) {
      // This call stops waiting while the other call may still be sending the email, so the effect is unknown.
      if (caller.signal?.aborted) caller.noteEffect();
      if (caller.signal?.aborted || inFlight.get(key) === other || !isOwnEnding(error)) throw error;
    }
  }
  const result = sendUnderKey(call, fingerprint).finally(() => inFlight.delete(key));
  inFlight.set(key, { fingerprint, since: caller.clock.wallTime(), result });
  return result;
};
