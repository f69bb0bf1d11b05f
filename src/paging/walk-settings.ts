import type { PageRequest } from "./ahead.ts";
import type { Place } from "./cursor.ts";

/** A page as the service sent it: the walk relies on its records only. */
export interface ServedPage<T> {
  readonly data: T[];
  readonly total?: number | null | undefined;
}

/** What a walk is made of. */
export interface WalkSettings<T> {
  readonly operation: string;
  readonly fetch: (request: PageRequest, signal: AbortSignal) => Promise<ServedPage<T>>;
  readonly skip: number;
  readonly limit: number;
  /** Pages asked for ahead; undefined: as many as the latency makes useful. */
  readonly prefetch: number | undefined;
  /** `false`: plain skip and limit, which misses and repeats records when the list moves. */
  readonly isDriftSafe: boolean;
  readonly place: Place | undefined;
  readonly onUnstable: (message: string) => void;
}
