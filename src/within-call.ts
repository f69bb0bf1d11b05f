import { type Outcome, TimeoutError } from "./errors.ts";
import { type HttpRequest, TotalTimeout } from "./http/types.ts";
import { whenAborted } from "./when-aborted.ts";

/**
 * Waits for work that knows no signal, such as a schema of the caller's, no longer than the call may take.
 *
 * @throws the reason of the signal, or a TimeoutError when the whole call takes longer than `totalTimeoutMs`.
 */
export const withinCall = <T>(
  work: Promise<T>,
  { signal, operation, log }: HttpRequest,
  outcome: Outcome,
): Promise<T> => {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      release();
      settle();
    };
    const stop = (): void => {
      const { reason } = signal;
      const error =
        reason instanceof TotalTimeout
          ? new TimeoutError(`${operation}: ${reason.message}, outcome ${outcome}.`, {
              operation,
              attempts: log.attempts,
              outcome,
            })
          : reason;
      finish(() => reject(error));
    };
    const release = whenAborted(signal, stop);
    if (signal.aborted) stop();
    work.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    );
  });
};
