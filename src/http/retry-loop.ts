import { backoffMs } from "./retry-policy.ts";

/** Work that is repeated while it fails. */
export interface Repeated<T> {
  /** Waits until the next try is due. Resolves with false if there is no next try. */
  readonly again: (failure: unknown) => Promise<boolean>;
  readonly work: () => Promise<T>;
}

/** Wraps a failure, because an abort reason may be any value, and p-retry replaces values that are not Errors. */
class Failed extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super("failed");
    this.failure = failure;
  }
}

const failureOf = (error: unknown): unknown => (error instanceof Failed ? error.failure : error);

/**
 * Repeats work after its first failure, and throws the last failure. Requests and batches use it.
 *
 * p-retry runs the loop. It is loaded at the first failure, so that a successful call doesn't load it. The wait happens
 * in `shouldRetry`, because its length depends on the failure, and because p-retry itself doesn't use the client's
 * clock.
 */
export const repeatAfter = async <T>(failure: unknown, { again, work }: Repeated<T>): Promise<T> => {
  if (!(await again(failure))) throw failure;
  const { default: pRetry } = await import("p-retry");
  const repeated = async (): Promise<T> => {
    try {
      return await work();
    } catch (last) {
      throw new Failed(last);
    }
  };
  try {
    return await pRetry(repeated, {
      // `again` limits the retries, because a 401 with a new key is retried even if `maxRetries` is 0.
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 0,
      shouldRetry: ({ error }) => again(failureOf(error)),
    });
  } catch (error) {
    throw failureOf(error);
  }
};

/** The parts of a call that rounds of requests use: the quota, the delay between rounds and the clock. */
interface RoundsCall {
  readonly context: { readonly quota: { draw(): boolean }; readonly random: () => number };
  /** Set for long work, whose retries don't spend the quota. */
  readonly longWaits: unknown;
  backOff(ms: number): Promise<void>;
}

/** Thrown after a round that left something to do. */
class Unfinished extends Error {}

/**
 * Repeats a round of requests until nothing is left to do.
 *
 * @param maxRounds - the maximum number of rounds.
 * @param round - resolves with true when nothing is left to do.
 */
export const inRounds = async (
  call: RoundsCall,
  maxRounds: number,
  round: () => Promise<boolean>,
): Promise<void> => {
  const { quota, random } = call.context;
  let rounds = 1;
  const work = async (): Promise<void> => {
    if (!(await round())) throw new Unfinished();
  };
  const again = async (failure: unknown): Promise<boolean> => {
    if (!(failure instanceof Unfinished) || rounds >= maxRounds) return false;
    if (call.longWaits === undefined && !quota.draw()) return false;
    // After the client is closed, this wait ends at once, and the next request throws the reason.
    await call.backOff(backoffMs(rounds, random()));
    rounds += 1;
    return true;
  };
  try {
    await work().catch((failure: unknown) => repeatAfter(failure, { again, work }));
  } catch (failure) {
    if (!(failure instanceof Unfinished)) throw failure;
  }
};
