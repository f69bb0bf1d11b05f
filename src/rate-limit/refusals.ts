import { ConnectionError, RateLimitError } from "../errors.ts";
import type { Scope } from "../http/scope.ts";
import type { LostStore } from "../options/shared-limits.ts";

/** A duration in words. */
export const inWords = (ms: number): string => {
  if (ms < 120_000) return `${Math.ceil(ms / 1_000)} s`;
  return ms < 7_200_000 ? `${Math.ceil(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
};

/** Why a request is not sent, and how long it would have to wait as far as is known. */
interface Refusal {
  readonly why: string;
  readonly waitMs?: number;
}

/** The error of a request that was not sent because of `limit`. */
export const refusedFor = (scope: Scope, limit: string, { why, waitMs }: Refusal): RateLimitError =>
  new RateLimitError(`${scope.operation.id}: not sent, ${why}`, {
    ...scope.progress,
    status: 429,
    headers: new Headers(),
    body: undefined,
    retryAfterMs: waitMs,
    limit,
  });

/** The error of a request that was not sent, because the service asked for a longer wait than allowed. */
export const refusedByPause = (
  scope: Scope,
  limit: string,
  { why, waitMs }: Required<Refusal>,
): RateLimitError => {
  const what = `the service asked to send nothing on ${limit} for another ${inWords(waitMs)}`;
  return refusedFor(scope, limit, { why: what + why, waitMs });
};

/** The error of a request whose shared limits are unavailable. */
export const unreachable = (scope: Scope, { why, cause }: LostStore): ConnectionError =>
  new ConnectionError(`${scope.operation.id}: not sent, ${why}`, { ...scope.progress, cause });
