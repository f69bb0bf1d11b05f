import type { Call } from "../call/call.ts";
import type { ConflictError, NotFoundError } from "../errors.ts";

/** A try without a result: search doesn't show the conflicting contact yet, or the contact was deleted meanwhile. */
export interface Unseen {
  readonly result: "unseen";
  readonly error: ConflictError | NotFoundError;
}

/** The wait before the next search. It doubles from 250 ms to 2 s, and up to half of it is random. */
export const lagWaitMs = (round: number, random: number): number =>
  (0.5 + random / 2) * Math.min(2_000, 250 * 2 ** round);

/** Advice for a conflict with a contact that search does not show. */
export const unseenHint =
  "a contact has this address, but search does not show it yet. Try again in 30 s. If that does not help, the service " +
  "treats another spelling as the same address";

/** A row whose contact search does not show yet. */
export interface WaitingRow<Row> {
  readonly row: Row;
  readonly address: string;
  /** The last try; undefined if the row was not tried, because an earlier row with its address waits. */
  readonly lastTry: Unseen | undefined;
}

interface Waiting<Row> {
  /** When rows stop waiting, in the time of the call's clock. */
  readonly endsAt: number;
  /** Whether the row is a contact now. */
  readonly retry: (row: Row, wasTried: boolean) => Promise<boolean | Unseen>;
  readonly giveUp: (row: Row, { error }: Unseen) => Promise<unknown>;
}

/** Retries rows until search shows their contacts. @returns the rows that are a contact now. */
export const waitForSearch = async <Row>(
  call: Call,
  waiting: readonly WaitingRow<Row>[],
  { endsAt, retry, giveUp }: Waiting<Row>,
): Promise<readonly Row[]> => {
  const { clock, context } = call;
  const accepted: Row[] = [];
  let remaining = waiting;
  for (let round = 0; remaining.length > 0; round += 1) {
    const waitMs = lagWaitMs(round, context.random());
    const isOver = (): boolean => clock.now() + waitMs >= endsAt;
    if (!isOver()) await call.backOff(waitMs);
    const next: WaitingRow<Row>[] = [];
    const unseen = new Set<string>();
    for (const { row, address, lastTry } of remaining) {
      const isLast = isOver();
      const isKept = isLast ? lastTry !== undefined : unseen.has(address);
      const result = isKept ? lastTry : await retry(row, lastTry !== undefined);
      if (result === true) accepted.push(row);
      if (typeof result === "boolean") continue;
      unseen.add(address);
      if (!isLast) next.push({ row, address, lastTry: result });
      else if (result !== undefined) await giveUp(row, result);
    }
    remaining = next;
  }
  return accepted;
};
