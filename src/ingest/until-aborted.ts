// A race with one promise for the whole run would keep a reaction for every item.
const orAbort = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    const settle = (then: () => void): void => {
      signal.removeEventListener("abort", onAbort);
      then();
    };
    work.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    );
  });

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
      const next = await orAbort(iterator.next(), signal);
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
