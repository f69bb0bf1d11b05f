import {
  ConflictError,
  ConnectionError,
  isTouchpointError,
  TimeoutError,
  type TouchpointError,
  ValidationError,
} from "../errors.ts";
import { abortError, ClientClosed, type Lifetime } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { contentHash } from "../runtime/content-hash.ts";
import { jsonCopy, messageOf } from "../runtime/values.ts";
import { Bounds } from "./bounds.ts";
import type { ClaimLedger, LedgerClaim } from "./ledger.ts";
import { keepable } from "./rules.ts";

/** One email under a key, and how to send it. */
export interface OnceCall<Sent> {
  readonly operation: string;
  readonly key: string;
  /** Identifies the email: no other may be sent under the key. */
  readonly email: object;
  readonly ledger: ClaimLedger;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly signal?: AbortSignal | undefined;
  readonly totalTimeoutMs?: number | undefined;
  send(totalTimeoutMs: number | undefined): Promise<Sent>;
  receiptOf(sent: Sent): unknown;
  /** The client's lifetime: `close` waits for held work, and ends the wait for a ledger that hangs. */
  readonly lifetime: Pick<Lifetime, "hold" | "signal">;
  /** Whether the email may have been sent although `send` failed. */
  mayHaveGoneOut(error: unknown): boolean;
}

/** It was sent just now, or earlier; in the latter case there may be a receipt. */
export type OnceResult<Sent> = { readonly sent: Sent } | { readonly receipt: unknown };

interface Flight {
  readonly fingerprint: string;
  readonly result: Promise<OnceResult<unknown>>;
}

/** What this process is sending, by ledger, so that clients with the same ledger share their calls. */
const flights = new WeakMap<ClaimLedger, Map<string, Flight>>();

const flightsOf = (ledger: ClaimLedger): Map<string, Flight> => {
  const known = flights.get(ledger);
  if (known !== undefined) return known;
  const made = new Map<string, Flight>();
  flights.set(ledger, made);
  return made;
};

const longestKey = 512;

const invalid = (
  { operation }: { readonly operation: string },
  path: string,
  message: string,
): ValidationError =>
  new ValidationError(`${operation}: ${path}: ${message}`, { operation, issues: [{ path, message }] });

/** @throws ValidationError for an invalid key. */
export const checkOnceKey = (call: { readonly operation: string; readonly key: unknown }): void => {
  const { key } = call;
  const fits = typeof key === "string" && key.trim() !== "" && key.length <= longestKey && key.isWellFormed();
  if (!fits) throw invalid(call, "once", `must be a string of 1 to ${longestKey} characters`);
};

const fingerprintOf = (call: OnceCall<unknown>): string => {
  try {
    return contentHash(jsonCopy(call.email));
  } catch (cause) {
    throw invalid(call, "email", `cannot be written as JSON: ${String(cause)}`);
  }
};

const checkSame = (call: OnceCall<unknown>, taken: string, asked: string): void => {
  if (taken === asked) return;
  throw invalid(call, "once", `${JSON.stringify(call.key)} belongs to a different email: nothing was sent`);
};

const refusal = (
  { operation, key }: OnceCall<unknown>,
  claim: Extract<LedgerClaim, { readonly since: number }>,
): ConflictError => {
  const name = JSON.stringify(key);
  const since = new Date(claim.since).toISOString();
  return new ConflictError(
    `${operation}: an email was begun under ${name} at ${since}, and it is not known whether it went out. ` +
      `Nothing was sent now. Find out, then say so: ledger.settle(${name}, "sent") or ledger.settle(${name}, "not-sent").`,
    { operation, outcome: "unknown", status: 409, headers: new Headers(), body: undefined },
  );
};

const lateLedger = ({ operation, totalTimeoutMs }: OnceCall<unknown>): TouchpointError =>
  new TimeoutError(
    `${operation}: the ledger gave no answer within totalTimeoutMs (${totalTimeoutMs} ms). Nothing was sent.`,
    { operation },
  );

const lateOther = ({ operation, key, totalTimeoutMs }: OnceCall<unknown>): TouchpointError =>
  new TimeoutError(
    `${operation}: another call with ${JSON.stringify(key)} did not end within totalTimeoutMs (${totalTimeoutMs} ms).`,
    { operation, outcome: "unknown" },
  );

/** Claims the key; frees it again if the claim arrives after the caller has left. */
const claimKey = async (
  call: OnceCall<unknown>,
  fingerprint: string,
  bounds: Bounds,
): Promise<LedgerClaim> => {
  const { ledger, key, operation } = call;
  const claiming = (async () => ledger.claim(key, fingerprint))();
  try {
    return await bounds.within(claiming, () => lateLedger(call));
  } catch (error) {
    const giveBack = (claim: LedgerClaim): unknown =>
      claim.state === "claimed" && ledger.settle(key, "not-sent", { claim: claim.claim });
    call.lifetime.hold(claiming.then(giveBack)).catch(() => undefined);
    if (isTouchpointError(error) || error instanceof ClientClosed || call.signal?.aborted) throw error;
    throw new ConnectionError(`${operation}: the ledger failed (${messageOf(error)}). Nothing was sent.`, {
      operation,
      cause: error,
    });
  }
};

const sendClaimed = async <Sent>(
  call: OnceCall<Sent>,
  fingerprint: string,
  bounds: Bounds,
): Promise<OnceResult<Sent>> => {
  const { ledger, key } = call;
  const claim = await claimKey(call, fingerprint, bounds);
  if (claim.state !== "claimed") {
    checkSame(call, claim.fingerprint, fingerprint);
    if (claim.state === "sent") return { receipt: keepable(claim.receipt) };
    throw refusal(call, claim);
  }
  const settle = async (how: "sent" | "not-sent" | "unknown", receipt?: unknown): Promise<void> => {
    const settling = call.lifetime.hold(
      (async () => ledger.settle(key, how, { claim: claim.claim, receipt }))(),
    );
    // A key that stays pending is refused later, and never sent again; the caller gets the result of the email anyway.
    await bounds.within(settling, () => lateLedger(call)).catch(() => undefined);
  };
  let sent: Sent;
  try {
    sent = await call.send(bounds.leftMs);
  } catch (error) {
    await settle(call.mayHaveGoneOut(error) ? "unknown" : "not-sent");
    throw error;
  }
  await settle("sent", keepable(call.receiptOf(sent)));
  return { sent };
};

// Its caller gave up; the other callers are not affected.
const isOwnEnding = (error: unknown): boolean => !isTouchpointError(error) || error instanceof TimeoutError;

/**
 * Sends an email under a key. The key is in the ledger before the email is sent, and a later call with the key gets the
 * first receipt. Calls of this process that come meanwhile get the result of the first one.
 *
 * @throws ValidationError when the key belongs to a different email.
 * @throws ConflictError, with outcome `unknown`, while it is unknown whether the email was sent.
 */
export const sendOnce = async <Sent>(call: OnceCall<Sent>): Promise<OnceResult<Sent>> => {
  checkOnceKey(call);
  const fingerprint = fingerprintOf(call);
  const { ledger, key, signal, operation } = call;
  const bounds = new Bounds(call, call.clock);
  const inFlight = flightsOf(ledger);
  for (;;) {
    signal?.throwIfAborted();
    const other = inFlight.get(key);
    if (other === undefined) break;
    checkSame(call, other.fingerprint, fingerprint);
    try {
      // All calls under a key are of one operation: their fingerprints are the same.
      return (await bounds.within(other.result, () => lateOther(call))) as OnceResult<Sent>;
    } catch (error) {
      // What becomes of the other call's email is not known here.
      if (signal?.aborted || inFlight.get(key) === other || !isOwnEnding(error))
        throw abortError(error, { operation, attempts: 0, outcome: "unknown" });
    }
  }
  const result = sendClaimed(call, fingerprint, bounds).finally(() => inFlight.delete(key));
  inFlight.set(key, { fingerprint, result });
  return result.catch((error: unknown) => {
    throw abortError(error, { operation, attempts: 0, outcome: "not-applied" });
  });
};
