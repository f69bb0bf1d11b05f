import type { Answer } from "./doctor-ask.ts";

/** A limit: so many within so long. */
interface Rate {
  readonly max: number;
  readonly perMs: number;
}

/** What the headers of the answers tell of the service's limiter. */
export interface LimiterReport {
  /** Those of the last answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly kind: "fixed window" | "sliding window or bucket" | "not told";
  /** Limits that the headers state with their window. */
  readonly stated: readonly Rate[];
}

const isAboutLimits = /^(x-)?rate-?limit/;

const aboutLimits = (headers: Headers): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => isAboutLimits.test(name)));

/** `"default";q=100;w=10` and the older `100;w=10`, also several with commas. */
const statedIn = (headers: Readonly<Record<string, string>>): Rate[] =>
  Object.values(headers)
    .flatMap((value) => value.split(","))
    .flatMap((policy) => {
      const max = /(?:;\s*q=|^\s*)(\d+)/.exec(policy)?.[1];
      const seconds = /;\s*w=(\d+)/.exec(policy)?.[1];
      return max === undefined || seconds === undefined
        ? []
        : [{ max: Number(max), perMs: Number(seconds) * 1_000 }];
    });

const firstEpochSecond = 1_000_000_000;

/** When the headers say that the limit frees, in milliseconds since 1970. */
const endOf = ({ headers, atMs }: Answer): number | undefined => {
  const text =
    /;\s*t=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1] ??
    headers.get("ratelimit-reset") ??
    headers.get("x-ratelimit-reset");
  if (text === null || !/^\d+$/.test(text)) return undefined;
  const seconds = Number(text);
  return seconds >= firstEpochSecond ? seconds * 1_000 : atMs + seconds * 1_000;
};

// Headers count in seconds: an end that moves less than this may not move.
const coarseMs = 1_000;

const kindOf = (answers: readonly Answer[]): LimiterReport["kind"] => {
  const ends = answers.map(endOf).filter((end) => end !== undefined);
  const spanMs = (answers.at(-1)?.atMs ?? 0) - (answers[0]?.atMs ?? 0);
  if (ends.length < answers.length || answers.length < 3 || spanMs <= 2 * coarseMs) return "not told";
  const movedMs = Math.max(...ends) - Math.min(...ends);
  if (movedMs <= coarseMs) return "fixed window";
  // A window that was over moves its end by a whole one, further than the time that passed.
  return movedMs <= spanMs + coarseMs ? "sliding window or bucket" : "not told";
};

/** Reads the kind of limiter and its numbers off the headers; most services tell neither. */
export const limiterOf = (answers: readonly Answer[]): LimiterReport => {
  const headers = aboutLimits(answers.at(-1)?.headers ?? new Headers());
  return { headers, kind: kindOf(answers), stated: statedIn(headers) };
};

/** A stated limit that is lower than the documented one of the same window. */
export const lowerThan = (
  stated: readonly Rate[],
  documented: readonly Rate[],
): readonly { readonly stated: Rate; readonly documented: Rate }[] =>
  stated.flatMap((rate) => {
    const same = documented.find(({ perMs }) => perMs === rate.perMs);
    return same !== undefined && rate.max < same.max ? [{ stated: rate, documented: same }] : [];
  });
