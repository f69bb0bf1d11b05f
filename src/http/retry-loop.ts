/** Work that is repeated while it fails. */
export interface Repeated<T> {
  /** Resolves when the next try is due; false if there is none. */
  readonly again: (failure: unknown) => Promise<boolean>;
  readonly work: () => Promise<T>;
}

/** p-retry converts anything that is not an Error to a TypeError, and an abort reason may be any value. */
class Failed extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super("failed");
    this.failure = failure;
  }
}

const failureOf = (error: unknown): unknown => (error instanceof Failed ? error.failure : error);

/**
 * Repeats work after its first failure; throws the last one. The attempts of a request, the items of a batch and the
 * rounds of an upsert are repeated here.
 *
 * p-retry runs the loop. It is loaded at the first failure, so that a call that succeeds does not pay for it. The wait
 * happens in `shouldRetry`, which p-retry awaits, because no other hook can be aborted.
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
      // `again` counts: only it knows the rules for a 401 with a new key, or a maximum of 0.
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 0,
      shouldRetry: ({ error }) => again(failureOf(error)),
    });
  } catch (error) {
    throw failureOf(error);
  }
};
