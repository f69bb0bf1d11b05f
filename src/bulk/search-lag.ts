import type { Call } from "../call/call.ts";
import type { ConflictError, NotFoundError } from "../errors.ts";

/** A try without a result: search doesn't show the conflicting contact yet, or the contact was deleted meanwhile. */
export interface Unseen {
  readonly result: "unseen";
  readonly error: ConflictError | NotFoundError;
}

const isUnseen = (done: unknown): done is Unseen => Object(done).result === "unseen";

/** The wait before the next try. Its maximum doubles from 250 ms to 2 s; the wait is at least half of that. */
const lagWaitMs = (round: number, random: number): number =>
  (0.5 + random / 2) * Math.min(2_000, 250 * 2 ** round);

/** Advice for a conflict with a contact that search does not show. */
export const unseenHint =
  "a contact has this address, but search does not show it yet. Try again in 30 s. If that does not help, the service " +
  "treats another spelling as the same address";

/**
 * Repeats `tryOnce` until search shows the contact.
 *
 * @param endsAt - when to give up, by the clock of the call.
 */
export const untilSeen = async <Done>(
  call: Call,
  tryOnce: () => Promise<Done | Unseen>,
  endsAt: number,
): Promise<Done | Unseen> => {
  for (let round = 0; ; round += 1) {
    const done = await tryOnce();
    if (!isUnseen(done)) return done;
    const waitMs = lagWaitMs(round, call.context.random());
    if (call.clock.now() + waitMs >= endsAt) return done;
    await call.backOff(waitMs);
  }
};
