import { describe, expect, test } from "vitest";
import {
  createPace,
  describeProgress,
  type ProgressShown,
  progressBar,
  renderProgress,
} from "../../../src/cli/progress-bar.ts";

const progress = (changes: Partial<ProgressShown> = {}): ProgressShown => ({
  done: 45_000,
  total: 100_000,
  perSecond: 1_812.4,
  etaMs: 30_300,
  waitingFor: undefined,
  ...changes,
});

describe("renderProgress", () => {
  test("draws a bar and the figures", () => {
    expect(renderProgress(progress(), 100)).toBe(
      "█████████████░░░░░░░░░░░░░░░░░  45 %  45,000/100,000  1,812/s  31 s left",
    );
  });

  test("shows what the work waits for", () => {
    expect(renderProgress(progress({ waitingFor: "events" }), 100)).toMatch(
      / {2}31 s left {2}waiting for events$/,
    );
  });

  test("without a total there is no bar and no share", () => {
    expect(renderProgress(progress({ total: undefined, etaMs: undefined }), 100)).toBe(
      "45,000 done  1,812/s",
    );
  });

  test("the bar takes what is left, from 10 columns up to 30", () => {
    const bars = [51, 52, 60, 72, 200].map((width) => renderProgress(progress(), width).match(/[█░]*/)?.[0]);
    expect(bars.map((bar) => bar?.length)).toEqual([0, 10, 18, 30, 30]);
  });

  test("a narrow terminal loses the bar, then the last figures, then the end", () => {
    expect([50, 40, 30, 22, 6, 3].map((width) => renderProgress(progress(), width))).toEqual([
      " 45 %  45,000/100,000  1,812/s  31 s left",
      " 45 %  45,000/100,000  1,812/s",
      " 45 %  45,000/100,000  1,812/s",
      " 45 %  45,000/100,000",
      " 45 %",
      " 45",
    ]);
  });

  test("100 % is said when everything is done, not before", () => {
    const shares = [99_999, 100_000, 100_002].map((done) =>
      renderProgress(progress({ done }), 22).slice(0, 5),
    );
    expect(shares).toEqual([" 99 %", "100 %", "100 %"]);
    expect(renderProgress(progress({ done: 0, total: 0 }), 60)).toContain("100 %  0/0");
    expect(renderProgress(progress({ done: 100_000 }), 100)).toContain("█".repeat(30));
  });

  test.each([
    [0, "0 s left"],
    [59_000, "59 s left"],
    [59_001, "1 min left"],
    [3_599_000, "59 min 59 s left"],
    [3_600_000, "1 h left"],
    [5_000_000, "1 h 24 min left"],
  ])("%s ms are %s", (etaMs, text) => {
    expect(describeProgress(progress({ etaMs }))).toBe(`45 %  45,000/100,000  1,812/s  ${text}`);
  });

  test("a low rate keeps a decimal", () => {
    expect(describeProgress(progress({ perSecond: 0.25 }))).toContain("  0.3/s  ");
    expect(describeProgress(progress({ perSecond: 9.96 }))).toContain("  10.0/s  ");
  });

  test("there is no rate before the first record, and no bare number where no total is known", () => {
    const nothing = { done: 0, total: undefined, perSecond: 0, etaMs: undefined };
    expect(describeProgress(progress(nothing))).toBe("0 done");
    expect(describeProgress(progress({ done: 0, perSecond: 0, etaMs: undefined }))).toBe("0 %  0/100,000");
  });
});

const recording = (terminal: { isTTY?: boolean; columns?: number }) => {
  const written: string[] = [];
  let time = 0;
  const bar = progressBar({ ...terminal, write: (text) => written.push(text) }, () => time);
  return {
    bar,
    written,
    at: (ms: number) => {
      time = ms;
    },
  };
};

const plain = (done: number) => progress({ done, total: undefined, etaMs: undefined, perSecond: 10 });

describe("on a terminal", () => {
  test("one line is redrawn, when it has changed, and left standing at the end", () => {
    const { bar, written } = recording({ isTTY: true });
    bar.update(plain(1));
    bar.update(plain(1));
    bar.update(plain(2));
    bar.end();
    expect(written).toEqual(["\r\u001b[K1 done  10/s", "\r\u001b[K2 done  10/s", "\n"]);
  });

  test("the line leaves the last column free, also after the window was resized", () => {
    const terminal = { isTTY: true, columns: 22, write: (text: string) => written.push(text.length) };
    const written: number[] = [];
    const bar = progressBar(terminal, () => 0);
    bar.update(progress());
    terminal.columns = 21;
    bar.update(progress());
    expect(written).toEqual(["\r\u001b[K 45 %  45,000/100,000".length, "\r\u001b[K 45 %".length]);
  });

  test("a terminal that says it has no columns is taken to have 80", () => {
    const { bar, written } = recording({ isTTY: true, columns: 0 });
    bar.update(progress());
    expect(written[0]?.length).toBeGreaterThan(60);
  });

  test("a line of its own goes above the bar", () => {
    const { bar, written } = recording({ isTTY: true });
    bar.print("before");
    bar.update(plain(1));
    bar.print("line 3: rejected");
    expect(written).toEqual([
      "before\n",
      "\r\u001b[K1 done  10/s",
      "\r\u001b[Kline 3: rejected\n1 done  10/s",
    ]);
  });

  test("without progress, the end writes nothing", () => {
    const { bar, written } = recording({ isTTY: true });
    bar.end();
    expect(written).toEqual([]);
  });
});

describe("in a log", () => {
  test("a plain line comes at most every 5 seconds, and the last at the end", () => {
    const { bar, written, at } = recording({});
    for (const ms of [0, 1, 5_000, 5_001, 10_000]) {
      at(ms);
      bar.update(plain(ms));
    }
    bar.end();
    bar.end();
    expect(written).toEqual(["1 done  10/s\n", "5,001 done  10/s\n", "10,000 done  10/s\n"]);
  });

  test("a line of its own is written at once", () => {
    const { bar, written } = recording({});
    bar.print("line 3: rejected");
    expect(written).toEqual(["line 3: rejected\n"]);
  });
});

describe("createPace", () => {
  const paced = (nowMs: () => number) => {
    const pace = createPace(nowMs);
    pace({ done: 0, total: 1_000 }, { limit: "", until: -1 });
    return pace;
  };

  test("counts a wait to its end, and names it until then", () => {
    let now = 0;
    const pace = paced(() => now);
    now = 1_000;
    const wait = { limit: "requests", until: 10_000 };
    expect(pace({ done: 100, total: 1_000 }, wait)).toEqual({
      done: 100,
      total: 1_000,
      perSecond: 10,
      etaMs: 90_000,
      waitingFor: "requests",
    });
    now = 20_000;
    expect(pace({ done: 200, total: 1_000 }, wait)).toMatchObject({
      perSecond: 10,
      etaMs: 80_000,
      waitingFor: undefined,
    });
  });

  test("what an earlier run did counts as done, not for the rate", () => {
    let now = 0;
    const pace = createPace(() => now);
    const wait = { limit: "", until: -1 };
    expect(pace({ done: 500, total: 1_000 }, wait)).toMatchObject({ perSecond: 0, etaMs: undefined });
    now = 10_000;
    expect(pace({ done: 600, total: 1_000 }, wait)).toMatchObject({ perSecond: 10, etaMs: 40_000 });
  });

  test("leaves records of an earlier run out of the rate, and counts a wait in full", () => {
    let now = 0;
    const pace = createPace(() => now);
    const none = { limit: "", until: -1 };
    const shown = (done: number, perSecond: number, wait = none) =>
      pace({ done, total: 1_000, perSecond }, wait);
    expect(shown(1, 0)).toMatchObject({ perSecond: 0, etaMs: undefined });
    now = 1_000;
    expect(shown(700, 0)).toMatchObject({ perSecond: 0, etaMs: undefined });
    now = 2_000;
    expect(shown(900, 100)).toMatchObject({ perSecond: 100, etaMs: 1_000 });
    expect(shown(900, 100, { limit: "requests", until: 11_000 })).toMatchObject({ perSecond: 10 });
  });

  test("a run that has settled nothing has no rate", () => {
    const pace = createPace(() => 0);
    expect(pace({ done: 1, total: 5, perSecond: 0 }, { limit: "", until: -1 }).perSecond).toBe(0);
    expect(pace({ done: 5, total: 5, perSecond: 0 }, { limit: "", until: -1 })).toMatchObject({
      perSecond: 0,
      etaMs: 0,
    });
  });

  test.each([
    [{ done: 100, total: 1_000, leastMs: 200_000 }, 200_000],
    [{ done: 100, total: 1_000, leastMs: 2_000 }, 9_000],
    [{ done: 1_000, total: 1_000, leastMs: 2_000 }, 0],
    [{ done: 1_001, total: 1_000 }, 0],
    [{ done: 100, total: undefined }, undefined],
  ])("%j takes %j ms at least", (measured, etaMs) => {
    let now = 0;
    const pace = paced(() => now);
    now = 1_000;
    expect(pace(measured, { limit: "", until: -1 }).etaMs).toBe(etaMs);
  });
});

test.each([true, false])("a line above the bar cannot act on the terminal (terminal: %s)", (isTTY) => {
  const written: string[] = [];
  const bar = progressBar({ isTTY, write: (text) => written.push(text) }, () => 0);
  bar.print("line 2: \u001b[2Jno\nline 3: yes");
  expect(written).toEqual(["line 2: \\u001b[2Jno\\u000aline 3: yes\n"]);
});
