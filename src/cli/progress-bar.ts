import { describeProgress, type ProgressShown, renderProgress } from "./render-progress.ts";

/** Where progress is drawn; `process.stderr` is one, so that standard output stays free for records. */
export interface Terminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** Progress on a terminal, or in a log. */
export interface ProgressBar {
  update(progress: ProgressShown): void;
  /** Writes a line of its own, such as a rejected record, without spoiling the bar. */
  print(line: string): void;
  /** Leaves the last state standing; nothing is drawn after it. */
  end(): void;
}

const clearLine = "\r\u001b[K";
const defaultColumns = 80;
const logGapMs = 5_000;

/** One line, redrawn in place. */
const drawnBar = (terminal: Terminal): ProgressBar => {
  let shown = "";
  return {
    update: (progress) => {
      // The last column stays free: a terminal that has just filled it may begin a new line. Some say they have 0.
      const line = renderProgress(progress, (terminal.columns || defaultColumns) - 1);
      if (line === shown) return;
      shown = line;
      terminal.write(clearLine + line);
    },
    print: (line) => {
      terminal.write(shown === "" ? `${line}\n` : `${clearLine}${line}\n${shown}`);
    },
    end: () => {
      if (shown !== "") terminal.write("\n");
      shown = "";
    },
  };
};

/** A line now and then, and the last state. */
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
      terminal.write(`${line}\n`);
    },
    end: flush,
  };
};

/**
 * Shows progress: one redrawn line on a terminal; anywhere else a plain line at most every 5 seconds, and the last.
 *
 * @param now - milliseconds that never run backwards.
 */
export const progressBar = (terminal: Terminal, now: () => number): ProgressBar =>
  terminal.isTTY ? drawnBar(terminal) : loggedBar(terminal, now);
