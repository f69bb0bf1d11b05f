import { type ChildProcess, fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { documentedLimits } from "../../src/options/limits.ts";
import type { BudgetName } from "../../src/service/define.ts";
import type { Counting } from "../../test/support/service-limiter.ts";
import { row, type ServiceProcess, startService } from "../service-process.ts";
import { type LimitedService, limitedService } from "./over-sockets.ts";
import { startStore } from "./store.ts";

/** The work of one client. */
export interface CellTask {
  readonly name: string;
  readonly url: string;
  /** How many callers each lane has. A caller makes one call after another, as fast as the limits allow. */
  readonly callers?: Readonly<Record<string, number>>;
  readonly background?: "export" | "ingest";
  /** Makes one call a second. Calls in the first `countedFromMs` are not measured. */
  readonly interactive?: { readonly name: "find" | "record"; readonly countedFromMs: number };
}

/** The work of one process. */
export interface WorkerTask {
  readonly cells: readonly CellTask[];
  readonly learnMs: number;
  readonly store?: string;
}

/** How long calls waited, by lane, in milliseconds. Also has the round trips, and the times of interactive calls. */
export type Waits = Readonly<Record<string, readonly number[]>>;

// The email limit has a window of one minute, so all limits are in use only after a minute.
const learnMs = 60_000;
// How long eight processes that start at once take until their first request.
const startMs = 4_000;
// Environment variables: SECONDS sets how long to measure (use a multiple of 60 for emails). CELLS='events|export' runs only the
// cells whose names match.
const measuredMs = Number(process.env.SECONDS ?? 180) * 1_000;
const wanted = new RegExp(process.env.CELLS ?? "");
const latencyMs = 50;
const limits = documentedLimits;

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

/** The callers of each lane, for each lane alone and for all of them together. The number after `events` is the batch size. */
const loads: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  requests: { requests: 120 },
  events: { "events 10": 30 },
  emails: { emails: 30 },
  mixed: { requests: 60, "events 25": 20, emails: 30 },
};

const budgetOf = (lane: string): BudgetName => (lane === "requests" || lane === "emails" ? lane : "events");

export class Worker {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(cells: readonly CellTask[], store?: string): Promise<Worker> {
    const file = fileURLToPath(new URL("./live-worker.ts", import.meta.url));
    const task: WorkerTask = { cells, learnMs, ...(store !== undefined && { store }) };
    const child = fork(file, [JSON.stringify(task)], { execArgv: ["--import", "tsx"] });
    await new Promise((resolve) => child.once("message", resolve));
    return new Worker(child);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  go(): void {
    this.#child.send("go");
  }

  async end(): Promise<Readonly<Record<string, Waits>>> {
    const waits = new Promise((resolve) => this.#child.once("message", resolve));
    this.#child.send("end");
    // live-worker.ts sends one such message.
    return (await waits) as Record<string, Waits>;
  }
}

const acceptedBy = ({ limiters }: LimitedService): Readonly<Record<BudgetName, number>> => ({
  requests: limiters.requests.accepted,
  emails: limiters.emails.accepted,
  events: limiters.events.accepted,
});

/** A load from one process or from four, on its own service. */
interface Saturated {
  readonly name: string;
  readonly service: LimitedService;
  readonly lanes: Readonly<Record<string, number>>;
  readonly least: number;
}

const saturatedCells = async (
  prefix: string,
  countings: readonly Counting[],
  least: { readonly alone: number; readonly mixed: number },
): Promise<readonly Saturated[]> => {
  const cells: Saturated[] = [];
  for (const [load, lanes] of Object.entries(loads))
    for (const counting of countings) {
      const name = `${prefix}, ${load}, ${counting}`;
      if (!wanted.test(name)) continue;
      const service = await limitedService(counting, limits, latencyMs);
      cells.push({ name, service, lanes, least: load === "mixed" ? least.mixed : least.alone });
    }
  return cells;
};

const taskOf = ({ name, service, lanes }: Saturated, part: number): CellTask => ({
  name,
  url: service.url,
  callers: Object.fromEntries(
    Object.entries(lanes).map(([lane, callers]) => [lane, Math.ceil(callers / part)]),
  ),
});

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The mean round trip minus the shortest one: the time that a busy machine adds. A limiter that avoids every 429 can use at
 * most W / (W + excess) of a window W: docs/design-notes.md, "Latency and the floor".
 */
const excessOf = ({ roundTripsMs = [] }: Waits): number =>
  meanOf(roundTripsMs) - roundTripsMs.reduce((least, ms) => Math.min(least, ms), latencyMs * 2);

const laneFigures = (cell: Saturated, before: Readonly<Record<BudgetName, number>>, waits: Waits) => {
  const after = acceptedBy(cell.service);
  const refused = Object.values(cell.service.limiters).reduce((sum, one) => sum + one.refused, 0);
  return Object.keys(cell.lanes).map((lane) => {
    const budget = budgetOf(lane);
    const { max, windowMs } = limits[budget];
    const share = (after[budget] - before[budget]) / ((measuredMs / windowMs) * max);
    const ofLane = waits[lane] ?? [];
    const mean = meanOf(ofLane);
    const possible = windowMs / (windowMs + excessOf(waits));
    const longest = Math.max(...ofLane);
    return { lane, refused, share, possible, mean, longest, apart: (longest - mean) / windowMs };
  });
};

/** Background work, alone or with interactive calls, on its own service. */
interface Beside {
  readonly name: string;
  readonly service: ServiceProcess;
  readonly background: "export" | "ingest";
  /** The longest wait that interactive calls may have. Undefined if there are none. */
  readonly mostMs: number | undefined;
}

const contacts = 20_000;

const besideCells = async (): Promise<readonly Beside[]> => {
  const cells: Beside[] = [];
  for (const background of ["export", "ingest"] as const)
    for (const [where, mostMs] of [
      ["alone", undefined],
      ["and calls in one process", 250],
      ["and calls in another process", 1_500],
    ] as const) {
      const name = `${background} ${where}`;
      if (!wanted.test(name)) continue;
      const days = { requestsPerDay: false, emailsPerDay: false, eventsPerDay: false } as const;
      const service = await startService(background === "export" ? contacts : 0, { limits: days, latencyMs });
      cells.push({ name, service, background, mostMs });
    }
  return cells;
};

const callsBeside = { export: "find", ingest: "record" } as const;

const countOf = async ({ service, background }: Beside) => {
  const { counts, events } = await service.report();
  return { done: background === "export" ? counts.requests : events, refused: counts.byStatus["429"] ?? 0 };
};

/** Measures every saturated load and every p99 over sockets, in real time and at the documented limits, all at once. */
export const liveCells = async (): Promise<void> => {
  const store = await startStore();
  const one = await saturatedCells("one process", ["sliding", "fixed", "bucket"], {
    alone: 0.97,
    mixed: 0.9,
  });
  const four = await saturatedCells(`four on ${store.name}`, ["sliding"], { alone: 0.95, mixed: 0.85 });
  const beside = await besideCells();
  const calls = ({ name, service, background, mostMs }: Beside): CellTask => ({
    name,
    url: service.url,
    // Count from the second window of the shared limit: the limiter keeps a reserve only after the first interactive call.
    ...(mostMs !== undefined && {
      interactive: {
        name: callsBeside[background],
        countedFromMs:
          startMs + (background === "export" ? limits.requests.windowMs : limits.events.windowMs),
      },
    }),
  });
  const here = beside.filter(({ mostMs }) => mostMs !== 1_500);
  const elsewhere = beside.filter(({ mostMs }) => mostMs === 1_500);
  const workOf = ({ name, service, background }: Beside): CellTask => ({
    name,
    url: service.url,
    background,
  });
  const single = await Worker.start(one.map((cell) => taskOf(cell, 1)));
  const fleet = await Promise.all(
    [1, 2, 3, 4].map(() =>
      Worker.start(
        four.map((cell) => taskOf(cell, 4)),
        store.url,
      ),
    ),
  );
  const both = await Worker.start(here.map((cell) => ({ ...workOf(cell), ...calls(cell) })));
  const background = await Worker.start(elsewhere.map(workOf), store.url);
  const interactive = await Worker.start(elsewhere.map(calls), store.url);
  const workers = [single, ...fleet, both, background, interactive];
  for (const worker of workers) worker.go();

  await sleep(learnMs);
  const saturatedBefore = new Map([...one, ...four].map((cell) => [cell, acceptedBy(cell.service)]));
  const besideBefore = await Promise.all(beside.map(countOf));
  const since = performance.now();
  await sleep(measuredMs);
  const besideAfter = await Promise.all(beside.map(countOf));
  const lastedMs = performance.now() - since;
  const none = { requests: 0, emails: 0, events: 0 };
  // Compute the shares before the processes end, because their end takes time.
  const rows = [...one, ...four].map((cell) => ({
    cell,
    figuresOf: (waits: Waits) => laneFigures(cell, saturatedBefore.get(cell) ?? none, waits),
    frozen: laneFigures(cell, saturatedBefore.get(cell) ?? none, {}),
  }));
  const waitsOfWorkers = await Promise.all(workers.map((worker) => worker.end()));
  const waitsOf = (name: string): Waits => {
    const merged: Record<string, number[]> = {};
    for (const waits of waitsOfWorkers.map((one) => one[name] ?? {}))
      for (const [lane, ms] of Object.entries(waits)) merged[lane] = [...(merged[lane] ?? []), ...ms];
    return merged;
  };

  console.log(
    `\nreal sockets and time, documented limits, ${latencyMs} ms latency, ${measuredMs / 1_000} s after the first minute`,
  );
  row("saturated", "429s", "share", "wanted", "possible", "mean wait", "longest", "apart");
  for (const { cell, figuresOf, frozen } of rows)
    for (const [at, { lane, possible, mean, longest, apart }] of figuresOf(waitsOf(cell.name)).entries())
      row(
        `${cell.name}: ${lane}`,
        frozen[at]?.refused ?? "",
        percent(frozen[at]?.share ?? Number.NaN),
        `>= ${percent(cell.least)}`,
        percent(possible),
        seconds(mean),
        seconds(longest),
        `${apart.toFixed(2)} win`,
      );
  row(
    "\ninteractive calls, one a second",
    "429s",
    "its share",
    "wanted",
    "p99 waited",
    "longest",
    "p99 in all",
  );
  for (const [at, cell] of beside.entries()) {
    const budget = cell.background === "export" ? "requests" : "events";
    const waits = waitsOf(cell.name);
    const { waitedMs, tookMs } = waits;
    const { windowMs } = limits[budget];
    // Each interactive call uses one unit of the same limit.
    const interactives = cell.mostMs === undefined ? 0 : lastedMs / 1_000;
    const done = (besideAfter[at]?.done ?? 0) - (besideBefore[at]?.done ?? 0) - interactives;
    const share = done / ((lastedMs / limits[budget].windowMs) * limits[budget].max);
    const p99 = (all: readonly number[] = []): string => {
      const ms = [...all].sort((a, b) => a - b)[Math.ceil(all.length * 0.99) - 1];
      return ms === undefined ? "" : `${ms.toFixed(0)} ms`;
    };
    row(
      cell.name,
      besideAfter[at]?.refused ?? "",
      percent(share),
      cell.mostMs === undefined ? ">= 97.1 %" : `>= 80 %, ${cell.mostMs} ms`,
      percent(windowMs / (windowMs + excessOf(waits))),
      p99(waitedMs),
      waitedMs === undefined ? "" : `${Math.max(...waitedMs).toFixed(0)} ms`,
      p99(tookMs),
    );
    cell.service.stop();
  }
  for (const { service } of [...one, ...four]) service.server.close();
  await store.stop();
};
