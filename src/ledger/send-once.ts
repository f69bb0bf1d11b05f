import { ConnectionError, isTouchpointError, SendOnceError, TimeoutError } from "../errors.ts";
import { DeadlineExceeded, inTime, type Lifetime, untilAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { contentHash } from "../runtime/content-hash.ts";
import { jsonCopy, messageOf, parsedJson } from "../runtime/values.ts";
import type { ClaimLedger, LedgerClaim, LedgerLog, Settlement, TakenKey } from "./ledger.ts";
import { keepable } from "./rules.ts";

/** A call that sends an email, or one request of it: its signal ends every wait. */
interface OnceCaller {
  readonly progress: { readonly operation: string };
  readonly signal: AbortSignal | undefined;
  /** An error that carries what the call has shown. */
  error(
    Class: typeof ConnectionError,
    message: string,
    details: { readonly cause: unknown },
  ): ConnectionError;
}

/** One email under a key, and how to send it. */
export interface OnceCall<Sent> {
  readonly key: string;
  /** Identifies the email: no other may be sent under the key. It was copied from JSON. */
  readonly email: object;
  readonly ledger: ClaimLedger;
  readonly caller: OnceCaller & {
    readonly clock: Pick<Clock, "after" | "wallTime" | "sleep">;
    /** The client's lifetime: `close` waits for held work. */
    readonly context: { readonly lifetime: Pick<Lifetime, "hold" | "signal"> };
    noteEffect(): void;
  };
  /** Milliseconds that the ledger may take to read the key. */
  readonly limitMs: number;
  /** Reports a receipt that could not be stored. */
  readonly log: LedgerLog;
  /** Sends the email. It takes the claim directly before the first byte of each attempt. */
  send(claim: OnceClaim): Promise<Sent>;
  /** What the ledger stores; without the API key, because it may be a file. */
  receiptOf(sent: Sent): unknown;
}

// Two minutes together, as long as a database takes to fail over.
const receiptWaitsMs = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 50_000];

/** The ledger's adapter is wrong: a ConfigurationError says what to change. Any copy of the package may have thrown it. */
const isAdapterFault = (error: unknown): boolean =>
  isTouchpointError(error) && error.code === "configuration_invalid" && Object(error).isAdapterFault === true;

/** The error of a request to a ledger before an email is sent. */
const ledgerError = (caller: OnceCaller, error: unknown, limitMs: number): unknown => {
  if (isAdapterFault(error)) return error;
  const isLate = error instanceof DeadlineExceeded;
  const what = isLate ? `did not respond within timeoutMs, ${limitMs} ms` : `failed (${messageOf(error)})`;
  const cause = isLate ? undefined : error;
  return caller.error(ConnectionError, `the ledger ${what}. Nothing was sent.`, { cause });
};

/** Another call was first. Internal: the caller gets its receipt, or a SendOnceError. */
export class KeyTaken extends Error {
  readonly taken: TakenKey;

  constructor(taken: TakenKey) {
    super("another call has claimed the key");
    this.taken = taken;
  }
}

/** The claim of one email on its key: taken directly before each attempt, released after one that was not applied. */
export class OnceClaim {
  readonly #call: OnceCall<unknown>;
  readonly #fingerprint: string;
  #claim: string | undefined;
  /** What is known of the attempt under the claim. */
  #as: Settlement = "unknown";

  constructor(call: OnceCall<unknown>, fingerprint: string) {
    this.#call = call;
    this.#fingerprint = fingerprint;
  }

  get key(): string {
    return this.#call.key;
  }

  /**
   * Claims the key for one attempt of a request, which may take `limitMs`.
   *
   * @throws KeyTaken when another call was first.
   */
  async take(attempt: OnceCaller, limitMs: number): Promise<void> {
    const { ledger, key, caller } = this.#call;
    // A release that failed: the key is still this call's own.
    await this.settle();
    const operation = attempt.progress.operation;
    const claiming = (async () => ledger.claim(key, this.#fingerprint, { operation, limitMs }))();
    let claim: LedgerClaim;
    try {
      // A request that waits for a ledger holds permits of its limits, and holds up close().
      claim = await inTime(claiming, { limitMs, signal: attempt.signal, clock: caller.clock });
    } catch (error) {
      // The claim may arrive after its caller has left.
      const giveBack = (late: LedgerClaim): unknown =>
        late.state === "claimed" && ledger.settle(key, "not-sent", { claim: late.claim });
      const givingBack = inTime(claiming.then(giveBack), { limitMs, clock: caller.clock });
      caller.context.lifetime.hold(givingBack).catch(() => undefined);
      if (attempt.signal?.aborted) throw attempt.signal.reason;
      throw ledgerError(attempt, error, limitMs);
    }
    if (claim.state !== "claimed") throw new KeyTaken(claim);
    this.#claim = claim.claim;
    this.#as = "unknown";
  }

  /** Settles the claim, if there is one; without `as` with what is known. A ledger that fails changes no result. */
  async settle(as: Settlement = this.#as, receipt?: unknown): Promise<void> {
    this.#as = as;
    const claim = this.#claim;
    if (claim === undefined) return;
    const { ledger, key, caller } = this.#call;
    const { limitMs } = this.#call;
    const settling = (async () => ledger.settle(key, as, { claim, receipt }))();
    // `close` waits for it, also where its caller has left.
    const settled = caller.context.lifetime.hold(inTime(settling, { limitMs, clock: caller.clock }));
    try {
      // A key that stays pending is unknown soon, and never sent again; the caller gets the result of the email anyway.
      await untilAborted(settled, caller.signal);
      this.#claim = undefined;
    } catch {
      // The next attempt, or the end of the call, tries again; behind a receipt there is none.
      if (as === "sent")
        caller.context.lifetime.hold(this.#settleAgain(claim, receipt)).catch(() => undefined);
    }
  }

  /** Writes a receipt again until the ledger stores it, the client is closed, or the time is up. */
  async #settleAgain(claim: string, receipt: unknown): Promise<void> {
    const { ledger, key, limitMs, caller, log } = this.#call;
    const { signal } = caller.context.lifetime;
    for (const waitMs of receiptWaitsMs) {
      // Once the client is closed, one last try.
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

/** It was sent just now, or earlier; in the latter case there may be a receipt. */
export type OnceResult<Sent> = { readonly sent: Sent } | { readonly receipt: unknown };

interface Flight {
  readonly fingerprint: string;
  readonly since: number;
  readonly result: Promise<OnceResult<unknown>>;
}

/** What this process is sending, by ledger, so that clients with the same ledger share their calls. */
const flights = new WeakMap<ClaimLedger, Map<string, Flight>>();

const flightsOf = (ledger: ClaimLedger): Map<string, Flight> => {
  const existing = flights.get(ledger);
  if (existing !== undefined) return existing;
  const made = new Map<string, Flight>();
  flights.set(ledger, made);
  return made;
};

// Enough to name the fields that differ. The hash of the whole email decides whether two emails are the same.
const charactersOfField = 8;

/** Identifies an email by its hash, and each of its fields by a short one. */
const emailFingerprint = (email: object): string => {
  // As it is sent.
  const copy = Object(jsonCopy(email));
  const fields = Object.entries(copy).map(([name, value]) => [
    name,
    contentHash(value).slice(0, charactersOfField),
  ]);
  return JSON.stringify([contentHash(copy), Object.fromEntries(fields)]);
};

/** The hash of the whole email, and the fields. A ledger of one's own may return anything. */
const partsOf = (
  fingerprint: string,
): { readonly mark: unknown; readonly fields: Record<string, unknown> } => {
  const parts = parsedJson(fingerprint);
  const [mark, fields]: readonly unknown[] = Array.isArray(parts) ? parts : [fingerprint];
  return { mark, fields: Object(fields) };
};

/** The names of the fields in which two emails differ; undefined if they are the same. */
const differingFields = (before: string, now: string): string[] | undefined => {
  const [a, b] = [partsOf(before), partsOf(now)];
  if (a.mark === b.mark) return undefined;
  const names = new Set([...Object.keys(a.fields), ...Object.keys(b.fields)]);
  return [...names].filter((name) => a.fields[name] !== b.fields[name]);
};

const checkSame = (
  { caller, key }: OnceCall<unknown>,
  { fingerprint, since }: Pick<TakenKey, "fingerprint" | "since">,
  wanted: string,
): void => {
  const differs = differingFields(fingerprint, wanted);
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
  const begun = `started with the key ${name} at ${new Date(since).toISOString()}`;
  const details = { operation, outcome: "unknown", key, since } as const;
  if (state === "pending")
    return new SendOnceError(
      `${operation}: another call, ${begun}, is sending the email now. This call sent nothing. Try again later.`,
      { ...details, code: "once_pending" },
    );
  return new SendOnceError(
    `${operation}: an earlier call, ${begun}, may have sent the email; the ledger does not know. ` +
      `This call sent nothing. Find out whether the email was sent, then call ledger.settle(${name}, "sent") or ledger.settle(${name}, "not-sent").`,
    { ...details, code: "once_unknown" },
  );
};

/** The receipt of the email that was sent under the key. @throws SendOnceError if there is none yet. */
const earlier = (call: OnceCall<unknown>, taken: TakenKey, wanted: string): { readonly receipt: unknown } => {
  checkSame(call, taken, wanted);
  if (taken.state === "sent") return { receipt: keepable(taken.receipt) };
  throw refusal(call, taken);
};

/** Reads the key: a receipt or a refusal must not wait for a limit. */
const readKey = async (call: OnceCall<unknown>): Promise<TakenKey | undefined> => {
  const { ledger, key, caller } = call;
  if (ledger.read === undefined) return undefined;
  const { limitMs } = call;
  const { signal, clock } = caller;
  try {
    // A locked table or a database that hangs must not hold the call.
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
  if (taken !== undefined) return earlier(call, taken, fingerprint);
  const claim = new OnceClaim(call, fingerprint);
  try {
    const sent = await call.send(claim);
    await claim.settle("sent", call.receiptOf(sent));
    return { sent };
  } catch (error) {
    if (error instanceof KeyTaken) return earlier(call, error.taken, fingerprint);
    await claim.settle();
    throw error;
  }
};

// Its caller gave up; the other callers are not affected.
const isOwnEnding = (error: unknown): boolean => !isTouchpointError(error) || error instanceof TimeoutError;

/**
 * Sends an email under a key. The key is in the ledger before the email is sent, and a later call with the key gets the
 * first receipt. Calls of this process that come meanwhile get the result of the first one.
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
      // All calls under a key are of one operation: their fingerprints are the same.
      return (await ending) as OnceResult<Sent>;
    } catch (error) {
      // What becomes of the other call's email is not known here.
      if (caller.signal?.aborted) caller.noteEffect();
      if (caller.signal?.aborted || inFlight.get(key) === other || !isOwnEnding(error)) throw error;
    }
  }
  const result = sendUnderKey(call, fingerprint).finally(() => inFlight.delete(key));
  inFlight.set(key, { fingerprint, since: caller.clock.wallTime(), result });
  return result;
};
