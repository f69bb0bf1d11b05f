import { TimeoutError } from "../errors.ts";
import { whenAborted } from "../runtime/abort.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Closing } from "./closing.ts";
import { closedFailure, type HttpRequest, outcomeOf } from "./types.ts";

/**
 * Waits for something that has no deadline of its own, as long as an attempt may take, or until the client is closed.
 *
 * @throws TimeoutError after that, which ends the call.
 */
export const withinAttempt = <T>(
  work: Promise<T>,
  what: string,
  request: HttpRequest,
  { clock, closing }: { readonly clock: Clock; readonly closing: Closing },
): Promise<T> =>
  new Promise((resolve, reject) => {
    const { operation, log, signal, attemptTimeoutMs: ms } = request;
    const finish = (settle: () => void): void => {
      cancel();
      release();
      releaseClosing();
      settle();
    };
    const stop = (): void => finish(() => reject(signal?.reason));
    const release = whenAborted(signal, stop);
    const stopClosed = (): void => finish(() => reject(closedFailure()));
    const releaseClosing = closing.onClose(stopClosed);
    const cancel = clock.after(ms, () =>
      finish(() =>
        // Not an AttemptFailure: no attempt was made, so nothing would count how often it is tried again.
        reject(
          new TimeoutError(`${operation}: not sent (${what} took longer than timeoutMs, ${ms} ms).`, {
            operation,
            attempts: log.attempts,
            outcome: outcomeOf(request),
          }),
        ),
      ),
    );
    work.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    );
    if (signal?.aborted) stop();
    // Closed since the call began, and before this wait.
    if (log.closings !== undefined && log.closings !== closing.count) stopClosed();
  });
