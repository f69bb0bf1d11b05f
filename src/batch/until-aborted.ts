import { whenAborted } from "../runtime/abort.ts";

/**
 * Waits for a promise that knows no signal, until the signal aborts.
 *
 * @throws the signal's reason.
 */
export const orAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const settle = (then: () => void): void => {
      release();
      then();
    };
    const stop = (): void => settle(() => reject(signal.reason));
    // A race with one promise for the whole run would keep a reaction for every item.
    const release = whenAborted(signal, stop);
    if (signal.aborted) stop();
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
};

/**
 * Iterates a source until a signal aborts, also while the source itself waits: a stream that has gone quiet must not
 * hold the run.
 *
 * @throws the signal's reason.
 */
export const untilAborted = async function* <Item>(
  source: Iterable<Item> | AsyncIterable<Item>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item> {
  signal?.throwIfAborted();
  if (signal === undefined || Symbol.iterator in source) {
    for await (const item of source) {
      yield item;
      signal?.throwIfAborted();
    }
    return;
  }
  const iterator = source[Symbol.asyncIterator]();
  let hasEnded = false;
  try {
    for (;;) {
      const next = await orAborted(iterator.next(), signal);
      hasEnded = next.done === true;
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    // A source that throws has ended; one that was left waiting is told, and not waited for.
    hasEnded = true;
    if (signal.aborted) void Promise.resolve(iterator.return?.()).catch(() => undefined);
    throw error;
  } finally {
    if (!hasEnded) await iterator.return?.();
  }
};
