import { ConnectionError, type Outcome } from "../errors.ts";
import { DeadlineExceeded, type Lifetime, openScope, untilAborted } from "../runtime/cancellation.ts";
import type { Clock } from "../runtime/clock.ts";
import { messageOf } from "../runtime/values.ts";
import type { ClaimLedger, LedgerClaim, Settlement, TakenKey } from "./ledger.ts";

/** Another call was first. Internal: the caller gets its receipt, or a SendOnceError. */
export class KeyTaken extends Error {
  readonly taken: TakenKey;

  constructor(taken: TakenKey) {
    super("another call has claimed the key");
    this.taken = taken;
  }
}

/** An attempt that is about to be made. */
interface Attempt {
  readonly operation: string;
  readonly attempts: number;
  readonly outcome: Outcome;
  /** How long it may take, in milliseconds. */
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A key, and what its claim needs of the call. */
export interface OnceKey {
  readonly key: string;
  readonly ledger: ClaimLedger;
  readonly clock: Pick<Clock, "after">;
  /** The client's lifetime: `close` waits for held work. */
  readonly lifetime: Pick<Lifetime, "hold">;
  /** The call: its signal ends every wait. */
  readonly scope: { readonly signal: AbortSignal | undefined };
}

/** The claim of one email on its key: taken directly before each attempt, released after one that was not applied. */
export class OnceClaim {
  readonly #of: OnceKey;
  readonly #fingerprint: string;
  #claim: string | undefined;
  /** What is known of the attempt under the claim. */
  #as: Settlement = "unknown";

  constructor(of: OnceKey, fingerprint: string) {
    this.#of = of;
    this.#fingerprint = fingerprint;
  }

  /**
   * Claims the key for one attempt.
   *
   * @throws KeyTaken when another call was first.
   */
  async take({ limitMs, signal, ...work }: Attempt): Promise<void> {
    const { ledger, key, clock, lifetime } = this.#of;
    // A release that failed: the key is still this call's own.
    await this.settle();
    const { operation } = work;
    const claiming = (async () => ledger.claim(key, this.#fingerprint, { operation, limitMs }))();
    // A request that waits for a ledger holds permits of its limits, and holds up close().
    const scope = openScope([signal], { totalTimeoutMs: limitMs, clock });
    let claim: LedgerClaim;
    try {
      claim = await untilAborted(claiming, scope.signal);
    } catch (error) {
      // The claim may arrive after its caller has left.
      const giveBack = (late: LedgerClaim): unknown =>
        late.state === "claimed" && ledger.settle(key, "not-sent", { claim: late.claim });
      lifetime.hold(claiming.then(giveBack)).catch(() => undefined);
      if (signal?.aborted) throw signal.reason;
      const isLate = error instanceof DeadlineExceeded;
      const what = isLate
        ? `gave no response within timeoutMs, ${limitMs} ms`
        : `failed (${messageOf(error)})`;
      const cause = isLate ? undefined : error;
      throw new ConnectionError(`${operation}: the ledger ${what}. Nothing was sent.`, { ...work, cause });
    } finally {
      scope.release();
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
    const { ledger, key, lifetime, scope } = this.#of;
    const settling = (async () => ledger.settle(key, as, { claim, receipt }))();
    try {
      // A key that stays pending is unknown soon, and never sent again; the caller gets the result of the email anyway.
      await untilAborted(lifetime.hold(settling), scope.signal);
      this.#claim = undefined;
    } catch {
      // The next attempt, or the end of the call, tries again.
    }
  }
}
