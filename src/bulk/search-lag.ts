import type { Call } from "../call/call.ts";
import type { ConflictError, NotFoundError } from "../errors.ts";

/** No result yet: search does not show the contact behind a conflict, or the contact was deleted meanwhile. */
export interface Unseen {
  readonly result: "unseen";
  readonly error: ConflictError | NotFoundError;
}

/** The wait before search is asked again: it doubles from 250 ms to 2 s, with a random half. */
export const lagWaitMs = (round: number, random: number): number =>
  (0.5 + random / 2) * Math.min(2_000, 250 * 2 ** round);

/** What to do about a conflict whose contact search does not show. */
export const unseenHint =
  "a contact has this address, but search does not show it yet: try again in 30 s; if that does not help, the " +
  "service takes another spelling for the same address";

/** A row whose contact search does not show yet. */
export interface WaitingRow<Row> {
  readonly row: Row;
  readonly address: string;
  /** Undefined for a row that was not tried, because an earlier one with its address waits. */
  readonly tried: Unseen | undefined;
}

interface Waiting<Row> {
  /** When rows stop waiting, by the clock of the call. */
  readonly endsAt: number;
  /** Whether the row is a contact now. */
  readonly retry: (row: Row, wasTried: boolean) => Promise<boolean | Unseen>;
  readonly giveUp: (row: Row, { error }: Unseen) => Promise<unknown>;
}

/** Tries rows again until search shows their contacts. @returns those that are a contact now. */
export const waitForSearch = async <Row>(
  call: Call,
  waiting: readonly WaitingRow<Row>[],
  { endsAt, retry, giveUp }: Waiting<Row>,
): Promise<readonly Row[]> => {
  const { clock, context } = call;
  const accepted: Row[] = [];
  let left = waiting;
  for (let round = 0; left.length > 0; round += 1) {
    const waitMs = lagWaitMs(round, context.random());
    const isOver = (): boolean => clock.now() + waitMs >= endsAt;
    if (!isOver()) await call.backOff(waitMs);
    const next: WaitingRow<Row>[] = [];
    const unseen = new Set<string>();
    for (const { row, address, tried } of left) {
      const isLast = isOver();
      const isLeft = isLast ? tried !== undefined : unseen.has(address);
      const done = isLeft ? tried : await retry(row, tried !== undefined);
      if (done === true) accepted.push(row);
      if (typeof done === "boolean") continue;
      unseen.add(address);
      if (!isLast) next.push({ row, address, tried: done });
      else if (done !== undefined) await giveUp(row, done);
    }
    left = next;
  }
  return accepted;
};
