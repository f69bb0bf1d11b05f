import { ApiError } from "../errors.ts";
import { BatchTooLarge } from "../http/types.ts";

interface Halving<T> {
  readonly signal: AbortSignal | undefined;
  readonly work: (items: readonly T[]) => Promise<void>;
  /** Called for an item that the service refused in a request without other items. */
  readonly onRefused: (item: T, error: ApiError) => Promise<void> | void;
}

// The error is about the items, not about the key, the limits or the service.
const isAboutContent = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 413, 422].includes(error.status);

/**
 * Sends items in one request. If the service refuses the content or the size of the request, sends each half of the
 * items in a separate request, and cuts a refused half again. So one bad item doesn't make other items fail.
 *
 * If the client's limits refuse the request as a BatchTooLarge, sends the largest part that they allow first.
 */
export const inHalves = async <T>(items: readonly T[], halving: Halving<T>): Promise<void> => {
  try {
    await halving.work(items);
  } catch (error) {
    // An abort reason can be any error, even the refusal of another call.
    halving.signal?.throwIfAborted();
    const isTooLarge = error instanceof BatchTooLarge;
    if (!isTooLarge && !isAboutContent(error)) throw error;
    const [only] = items;
    if (!isTooLarge && items.length === 1 && only !== undefined) return halving.onRefused(only, error);
    const middle = isTooLarge ? error.most : Math.ceil(items.length / 2);
    await inHalves(items.slice(0, middle), halving);
    await inHalves(items.slice(middle), halving);
  }
};
