import type { Clock } from "../clock.ts";
import { whenAborted } from "../when-aborted.ts";
import { AttemptFailure, type HttpRequest } from "./types.ts";

/** Waits for something that has no deadline of its own, as long as the attempt it belongs to may take. */
export const withinAttempt = <T>(
  work: Promise<T>,
  what: string,
  request: HttpRequest,
  clock: Clock,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const { signal, attemptTimeoutMs: ms } = request;
    const finish = (settle: () => void): void => {
      cancel();
      release();
      settle();
    };
    const stop = (): void => finish(() => reject(signal?.reason));
    const release = whenAborted(signal, stop);
    const cancel = clock.after(ms, () =>
      finish(() =>
        reject(
          new AttemptFailure("timeout", `${what} took longer than timeoutMs, ${ms} ms`, { wasSent: false }),
        ),
      ),
    );
    work.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    );
    if (signal?.aborted) stop();
  });
