import type { Progress } from "../index.ts";
import { grouped, type Terminal, visible } from "./terminal.ts";

export type ProgressShown = Omit<Progress, "forecast">;

/** The progress that a command reports. */
export type Measured = Pick<Progress, "done" | "total"> & {
  /** The rate of this run. Without it, `createPace` measures the rate from the first report on. */
  readonly perSecond?: number | undefined;
  /** The minimum time for the remaining items within the rate limits, if known. */
  readonly leastMs?: number | undefined;
};

/** The most recent wait for a limit, and when it ends. */
export interface LimitWait {
  readonly limit: string;
  readonly until: number;
}

/** Computes the rate of the work and the remaining time. @param now - a monotonic clock in milliseconds. */
export const createPace = (now: () => number) => {
  let first: { readonly at: number; readonly done: number } | undefined;
  return ({ done, total, perSecond, leastMs = 0 }: Measured, { limit, until }: LimitWait): ProgressShown => {
    const at = now();
    // While the rate of this run is 0, all items in `done` are from an earlier run.
    if (first === undefined || perSecond === 0) first = { at, done };
    const elapsedMs = Math.max(1, at - first.at);
    const settled = perSecond === undefined ? done - first.done : (perSecond / 1_000) * elapsedMs;
    // During a wait, measure until its end: the work so far has used up the complete window of the limit.
    const perMs = settled / Math.max(elapsedMs, until - first.at);
    const remaining = Math.max(0, (total ?? Number.NaN) - done);
    const remainingMs = remaining === 0 ? 0 : Math.max(remaining / perMs, leastMs);
    const etaMs = Number.isFinite(remainingMs) ? remainingMs : undefined;
    return { done, total, perSecond: perMs * 1_000, etaMs, waitingFor: at < until ? limit : undefined };
  };
};

const barColumns = { least: 10, most: 30 };

const rate = (perSecond: number): string =>
  `${perSecond < 10 ? perSecond.toFixed(1) : grouped(Math.round(perSecond))}/s`;

/** Joins two units, or returns only the first one if the second is 0: `1 min`. */
const units = (one: string, other: string): string => (other.startsWith("0 ") ? one : `${one} ${other}`);

export const duration = (ms: number): string => {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return units(`${Math.floor(seconds / 60)} min`, `${seconds % 60} s`);
  const minutes = Math.ceil(seconds / 60);
  return units(`${grouped(Math.floor(minutes / 60))} h`, `${minutes % 60} min`);
};

/** A fraction from 0 to 1. `done` can exceed `total`, because records are added during the run. */
const shareOf = (done: number, total: number): number => (done >= total ? 1 : done / total);

/** The figures, with the least important last. */
const figures = ({ done, total, perSecond, etaMs, waitingFor }: ProgressShown): string[] => {
  const figures = total === undefined ? [`${grouped(done)} done`] : [`${grouped(done)}/${grouped(total)}`];
  // Round down, so that only finished work shows 100 %.
  if (total !== undefined) figures.unshift(`${Math.floor(shareOf(done, total) * 100)} %`.padStart(5));
  // Show no rate before the first record: 0/s would look as if the work had stalled.
  if (perSecond > 0) figures.push(rate(perSecond));
  if (etaMs !== undefined) figures.push(`${duration(etaMs)} left`);
  if (waitingFor !== undefined) figures.push(`waiting for ${waitingFor}`);
  return figures;
};

/** Formats progress as a line for a log: figures without a bar. */
export const describeProgress = (progress: ProgressShown): string => figures(progress).join("  ").trimStart();

/**
 * Formats progress as one line for a terminal, never longer than `width` columns.
 *
 * The line has a bar of 10 to 30 columns if the total is known and there is room. On a narrow terminal, the last
 * figures are left out first.
 */
export const renderProgress = (progress: ProgressShown, width: number): string => {
  const all = figures(progress);
  const shown = [...all];
  while (shown.length > 1 && shown.join("  ").length > width) shown.pop();
  const text = shown.join("  ").slice(0, width);
  const columns = Math.min(barColumns.most, width - text.length - 1);
  if (progress.total === undefined || shown.length < all.length || columns < barColumns.least) return text;
  const filled = Math.floor(shareOf(progress.done, progress.total) * columns);
  return `${"█".repeat(filled)}${"░".repeat(columns - filled)} ${text}`;
};

/** Progress on a terminal, or in a log. */
export interface ProgressBar {
  update(progress: ProgressShown): void;
  /** Prints a line above the bar, for example about a rejected record. */
  print(line: string): void;
  /** Leaves the last state on the screen, and ignores later updates. */
  end(): void;
}

const clearLine = "\r\u001b[K";
const defaultColumns = 80;
const logGapMs = 5_000;

/** Progress as one line that is redrawn in place. */
const drawnBar = (terminal: Terminal): ProgressBar => {
  let shown = "";
  let isEnded = false;
  return {
    update: (progress) => {
      if (isEnded) return;
      // Leave the last column free, because some terminals start a new line when it is filled. Some report 0 columns.
      const line = renderProgress(progress, (terminal.columns || defaultColumns) - 1);
      if (line === shown) return;
      shown = line;
      terminal.write(clearLine + line);
    },
    print: (line) => {
      terminal.write(`${shown === "" ? "" : clearLine}${visible(line)}\n${shown}`);
    },
    end: () => {
      if (shown !== "") terminal.write("\n");
      shown = "";
      isEnded = true;
    },
  };
};

/** Progress as a line every few seconds, and a line for the last state. */
const loggedBar = (terminal: Terminal, now: () => number): ProgressBar => {
  let nextAt = Number.NEGATIVE_INFINITY;
  let pending: string | undefined;
  const flush = (): void => {
    if (pending !== undefined) terminal.write(`${pending}\n`);
    pending = undefined;
  };
  return {
    update: (progress) => {
      pending = describeProgress(progress);
      if (now() < nextAt) return;
      nextAt = now() + logGapMs;
      flush();
    },
    print: (line) => {
      terminal.write(`${visible(line)}\n`);
    },
    end: flush,
  };
};

/**
 * Shows progress. On a terminal, it redraws one line. Elsewhere, it writes a plain line at most every 5 seconds, and
 * one for the last state.
 *
 * @param now - a monotonic clock in milliseconds.
 */
export const progressBar = (terminal: Terminal, now: () => number): ProgressBar => {
  const bar = terminal.isTTY ? drawnBar(terminal) : loggedBar(terminal, now);
  // Before the first record there is no progress to show.
  const update = (progress: ProgressShown): void => {
    if (progress.done > 0) bar.update(progress);
  };
  return { ...bar, update };
};
