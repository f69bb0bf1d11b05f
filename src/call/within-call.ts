import { ConnectionError, type Outcome, TimeoutError } from "../errors.ts";
import type { Closing } from "../http/closing.ts";
import type { Deadline } from "../http/deadline.ts";
import { type HttpRequest, TotalTimeout } from "../http/types.ts";
import { whenAborted } from "../runtime/abort.ts";

/** The error with which a call ends once its signal has aborted: the reason, or a TimeoutError when its time was up. */
export const endOf = ({ signal, operation, log }: HttpRequest, outcome: Outcome): unknown => {
  const reason: unknown = signal?.reason;
  if (!(reason instanceof TotalTimeout)) return reason;
  const details = { operation, attempts: log.attempts, outcome };
  return new TimeoutError(`${operation}: ${reason.message}, outcome ${outcome}.`, details);
};

/**
 * Waits for work that knows no signal, such as a schema of the caller's, no longer than the call may take.
 *
 * @throws the reason of the signal, or a TimeoutError when the whole call takes longer than `totalTimeoutMs`.
 */
export const withinCall = <T>(work: Promise<T>, request: HttpRequest, outcome: Outcome): Promise<T> => {
  const { signal } = request;
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      release();
      settle();
    };
    const stop = (): void => finish(() => reject(endOf(request, outcome)));
    const release = whenAborted(signal, stop);
    if (signal.aborted) stop();
    work.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    );
  });
};

/**
 * Makes the signals for waits outside of any request: each also aborts, with a ConnectionError, when the client is
 * closed, or was since the count of closings was `since`.
 */
export const openWait =
  (closing: Closing, since: number) =>
  (operation: string, signal: AbortSignal | undefined, outcomeNow: () => Outcome): Deadline =>
    closing.joined(signal, since, () => {
      const outcome = outcomeNow();
      const message = `${operation}: the client was closed, outcome ${outcome}.`;
      return new ConnectionError(message, { operation, attempts: 0, outcome });
    });
