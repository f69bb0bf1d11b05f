import type { PageRequest } from "./ahead.ts";
import type { Place } from "./cursor.ts";

/** A page as the service sent it. Only its records are reliable. */
export interface ServedPage<T> {
  readonly data: T[];
  readonly total?: number | null | undefined;
  /** The longest page that the service returns to this request. */
  readonly limit?: number | undefined;
}

/** The settings of a walk. */
export interface WalkSettings<T> {
  readonly operation: string;
  readonly fetch: (request: PageRequest, signal: AbortSignal) => Promise<ServedPage<T>>;
  readonly skip: number;
  readonly limit: number;
  /** Pages requested ahead; undefined: as many as the latency makes useful. */
  readonly prefetch: number | undefined;
  /** `false`: plain skip and limit, which misses and repeats records when the list moves. */
  readonly isDriftSafe: boolean;
  readonly place: Place | undefined;
  /** For cursors: what `queryText` gives. */
  readonly query?: string | undefined;
  readonly onUnstable: (message: string) => void;
}
