import { costOfRepeat } from "../http/retry.ts";
import { repeatAfter } from "../http/retry-loop.ts";
import { backoffMs } from "../http/retry-policy.ts";
import type { CallScope } from "./scope.ts";

/** A round that left something to do. */
class Unfinished extends Error {}

/**
 * Repeats a round of requests until it gives a result, with the back-off and the quota of single requests.
 *
 * @param most - how many rounds there may be.
 * @param round - undefined: something is left to do.
 * @returns undefined if something is still left after the last round.
 */
export const inRounds = async <T>(
  scope: CallScope,
  most: number,
  round: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const { quota, random } = scope.context;
  let rounds = 1;
  const work = async (): Promise<T> => {
    const result = await round();
    if (result === undefined) throw new Unfinished();
    return result;
  };
  const again = async (failure: unknown): Promise<boolean> => {
    if (!(failure instanceof Unfinished) || rounds >= most) return false;
    if (scope.longWaits === undefined && !quota.draw(costOfRepeat)) return false;
    // Once the client is closed this ends at once, and the next request says so.
    await scope.backOff(backoffMs(rounds, random()));
    rounds += 1;
    return true;
  };
  try {
    return await work().catch((failure: unknown) => repeatAfter(failure, { again, work }));
  } catch (failure) {
    if (failure instanceof Unfinished) return undefined;
    throw failure;
  }
};
