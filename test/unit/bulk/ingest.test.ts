import { describe, expect, test } from "vitest";
import type { ForecastContext } from "../../../src/bulk/forecast.ts";
import { ingest } from "../../../src/bulk/ingest.ts";
import type { IngestOptions, IngestReport } from "../../../src/bulk/ingest-options.ts";
import { ApiError, BadRequestError, ConfigurationError } from "../../../src/errors.ts";
import type { CheckpointStore } from "../../../src/runtime/checkpoint.ts";
import { createRandom, type Random } from "../../../src/sandbox/random.ts";
import type { EventInput } from "../../../src/service/events.ts";
import type { GivenEvent } from "../../../src/workspace/event-types.ts";
import { anEvent } from "../../support/builders.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { randomCases } from "../../support/random-cases.ts";
import { type Answering, scriptedCall } from "../../support/scripted-call.ts";
import { unusedBudgets } from "../../support/unused-budgets.ts";

/** Records each id once, however often it comes. */
class Service {
  readonly recorded = new Map<string, number>();

  readonly record = (payload: unknown): object => {
    const { events }: { events?: readonly GivenEvent[] } = Object(payload);
    const results = (events ?? []).map(({ id = "", name }) => {
      const times = this.recorded.get(id) ?? 0;
      this.recorded.set(id, times + 1);
      return { status: 202, id, name, outcome: "PROCESSED", ...(times > 0 && { duplicate: true }) };
    });
    return { accepted: results.length, rejected: 0, results };
  };
}

/** What outlives a killed process. */
const memoryStore = (): CheckpointStore & { stored: string | undefined } => ({
  stored: undefined,
  async load() {
    return this.stored === undefined ? undefined : JSON.parse(this.stored);
  },
  async save(state) {
    this.stored = JSON.stringify(state);
  },
});

const events = (count: number): EventInput[] =>
  Array.from({ length: count }, (_, at) => anEvent({ properties: { at } }));

const contextOf = (call: ForecastContext["call"]): ForecastContext => ({
  call,
  largestBatch: () => 100,
  budgets: unusedBudgets,
});

const run = (
  source: Iterable<EventInput> | AsyncIterable<EventInput>,
  answering: Answering,
  options: IngestOptions<EventInput> = {},
): Promise<IngestReport> => {
  const clock = new FakeClock();
  const context = contextOf(scriptedCall(clock, answering));
  return clock.until(ingest(source, options, context));
};

const never = new Promise<never>(() => undefined);

describe("ingest, killed and started again", () => {
  // A killed process: from a random instant on nothing it waits for ever comes, and only the store is left.
  const killedRun = (
    source: readonly EventInput[],
    service: Service,
    store: CheckpointStore,
    random: Random,
  ) => {
    let steps = Math.floor(random() * 40);
    const alive = (): boolean => steps-- > 0;
    const rejected: number[] = [];
    const answering: Answering = async (_operation, payload) => {
      for (let left = Math.floor(random() * 8); left > 0; left -= 1) await undefined;
      if (!alive()) return never;
      const answer = service.record(payload);
      return alive() ? answer : never;
    };
    const dying: CheckpointStore = {
      load: () => store.load(),
      save: async (state) => {
        if (!alive()) return never;
        await store.save(state);
        return alive() ? undefined : never;
      },
    };
    const finished = ingest(
      source,
      {
        checkpoint: dying,
        batchSize: 1 + Math.floor(random() * 7),
        concurrency: 1 + Math.floor(random() * 4),
        onRejected: async ({ index }) => {
          rejected.push(index);
          if (!alive()) await never;
        },
      },
      {
        call: scriptedCall(new FakeClock(), answering),
        largestBatch: () => 100,
        budgets: unusedBudgets,
      },
    );
    return { finished, rejected };
  };

  test("at any moment, many times: each valid event is recorded once, each invalid one is reported", async () => {
    for (let seed = 0; seed < randomCases(300); seed += 1) {
      const random = createRandom(seed);
      const source = events(60).map((event, at) => (at % 9 === 4 ? { ...event, name: "" } : event));
      const service = new Service();
      const store = memoryStore();
      const told = new Set<number>();
      let report: IngestReport | undefined;
      for (let runs = 0; report === undefined; runs += 1) {
        if (runs > 300) throw new Error(`seed ${seed} does not end`);
        const { finished, rejected } = killedRun(source, service, store, random);
        finished.then((whole) => {
          report = whole;
        });
        for (let turns = 0; turns < 12 && report === undefined; turns += 1) await turn();
        for (const index of rejected) told.add(index);
        const { done = 0 } = JSON.parse(store.stored ?? "{}");
        // Nothing below the checkpoint may be open.
        const open = source.slice(0, done).filter(({ name }, at) => name === "" && !told.has(at));
        expect({ seed, open }).toEqual({ seed, open: [] });
        expect(service.recorded.size).toBeGreaterThanOrEqual(
          source.slice(0, done).filter((e) => e.name).length,
        );
      }
      const invalid = source.flatMap(({ name }, at) => (name === "" ? [at] : []));
      expect([seed, service.recorded.size, [...told].sort((a, b) => a - b)]).toEqual([
        seed,
        source.length - invalid.length,
        invalid,
      ]);
      const { read, skipped, accepted, duplicates, rejected, unknown } = report;
      expect([read, unknown]).toEqual([source.length, 0]);
      expect(skipped + accepted + duplicates + rejected).toBe(read);
    }
  }, 60_000);
});

describe("ingest", () => {
  test("a source that yields one object again and again has each event recorded as it was then", async () => {
    const service = new Service();
    const recorded: unknown[] = [];
    const store = memoryStore();
    const source = function* (): Generator<EventInput> {
      const properties = { at: 0 };
      const reused = anEvent({ properties });
      for (properties.at = 0; properties.at < 30; properties.at += 1) yield reused;
    };
    const answering: Answering = async (_operation, payload) => {
      const { events: given }: { events?: readonly GivenEvent[] } = Object(payload);
      recorded.push(...(given ?? []).map(({ properties }) => properties?.at));
      return service.record(payload);
    };
    const options = { batchSize: 10, checkpoint: store };
    expect(await run(source(), answering, options)).toMatchObject({ read: 30, accepted: 30 });
    expect(recorded).toEqual(events(30).map((_event, at) => at));
    expect(await run(events(30), answering, options)).toMatchObject({ read: 30, skipped: 30 });
  });

  test("a 400 for a whole batch splits it until the culprit is alone", async () => {
    const service = new Service();
    const source = events(20).map((event, at) => (at === 13 ? { ...event, id: "poison" } : event));
    const rejected: unknown[] = [];
    const report = await run(
      source,
      async (_operation, payload) => {
        if (!JSON.stringify(payload).includes("poison")) return service.record(payload);
        const headers = new Headers();
        throw new BadRequestError("properties too big", { status: 400, headers, body: undefined });
      },
      {
        batchSize: 20,
        onRejected: ({ index, status, error }) => void rejected.push({ index, status, error }),
      },
    );
    expect(report).toMatchObject({ read: 20, accepted: 19, rejected: 1, unknown: 0 });
    expect(rejected).toEqual([{ index: 13, status: 400, error: "properties too big" }]);
  });

  test("only the events that failed for a temporary reason are sent again", async () => {
    const sizes: number[] = [];
    const report = await run(events(10), async (_operation, payload) => {
      const { events: sent }: { events: readonly GivenEvent[] } = Object(payload);
      sizes.push(sent.length);
      const failing = [429, 500, 503, undefined];
      const results = sent.map(({ id }, at) => {
        const status = sizes.length === 1 && at < 4 ? failing[at] : 202;
        return status === undefined ? null : { status, id, outcome: "PROCESSED" };
      });
      return { results };
    });
    expect([sizes, report.accepted]).toEqual([[10, 4], 10]);
  });

  test("an event that keeps failing for a temporary reason ends the run, and the checkpoint is before the event", async () => {
    const store = memoryStore();
    const error = await run(
      events(10),
      async (_operation, payload) => {
        const { events: sent }: { events: readonly GivenEvent[] } = Object(payload);
        return {
          results: sent.map(({ id, properties }) => ({ status: properties?.at === 5 ? 503 : 202, id })),
        };
      },
      { batchSize: 2, concurrency: 1, checkpoint: store },
    ).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(JSON.parse(store.stored ?? "")).toMatchObject({ done: 4 });
  });

  /** Results for the events sent, the sixth event's as told. */
  const withSixth =
    (sixth: unknown): Answering =>
    async (_operation, payload) => {
      const { events: sent }: { events: readonly GivenEvent[] } = Object(payload);
      return { results: sent.map(({ properties }) => (properties?.at === 5 ? sixth : { status: 202 })) };
    };

  test.each([[{ status: "failed" }], [{}], ["no"]])(
    "a result that stays unreadable, as %j, is a rejection and ends no run",
    async (sixth) => {
      const store = memoryStore();
      const rejected: unknown[] = [];
      const report = await run(events(10), withSixth(sixth), {
        checkpoint: store,
        onRejected: ({ index, status, error }) => void rejected.push({ index, status, error }),
      });
      expect(report).toMatchObject({ accepted: 9, rejected: 1, unknown: 0 });
      expect(rejected).toEqual([{ index: 5, status: 0, error: JSON.stringify(sixth) }]);
      expect(JSON.parse(store.stored ?? "")).toMatchObject({ done: 10 });
    },
  );

  test("an event that never gets a result ends the run, and is not given up", async () => {
    const failing = run(events(10), withSixth(null), { batchSize: 2, concurrency: 1 });
    await expect(failing).rejects.toMatchObject({
      outcome: "unknown",
      partial: { report: { accepted: 4, rejected: 0 } },
    });
  });

  test("what cannot be used as an id or a time is refused by name, and ends no run", async () => {
    const broken = anEvent({ occurredAt: new Date("junk") });
    const rejected: number[] = [];
    const options = {
      checkpoint: memoryStore(),
      onRejected: ({ index }: { index: number }) => void rejected.push(index),
    };
    const report = await run(
      [...events(2), broken],
      async (_o, payload) => new Service().record(payload),
      options,
    );
    expect([report.accepted, rejected]).toEqual([2, [2]]);
  });

  test("refusals are reported in order, and only once their batch is through", async () => {
    const told: number[] = [];
    const source = events(4).map((event, at) => (at === 1 ? { ...event, name: "" } : event));
    const options = { onRejected: ({ index }: { index: number }) => void told.push(index) };
    const failing = run(source, async () => Promise.reject(new Error("down")), options);
    await expect(failing).rejects.toThrow("down");
    expect(told).toEqual([]);
    const refuseFirst: Answering = async (_operation, payload) => {
      const { events: sent }: { events: readonly GivenEvent[] } = Object(payload);
      return {
        results: sent.map(({ id }, at) => (at === 0 ? { status: 404, error: "gone" } : { status: 202, id })),
      };
    };
    await run(source, refuseFirst, options);
    expect(told).toEqual([0, 1]);
  });

  test.each(["source", "onRejected", "save"])(
    "an error of %s ends the run, and nothing beyond is saved",
    async (who) => {
      const mine = new Error(`${who} failed`);
      const store = memoryStore();
      const checkpoint: CheckpointStore =
        who === "save" ? { load: async () => undefined, save: async () => Promise.reject(mine) } : store;
      const source = function* () {
        yield* events(4);
        if (who === "source") throw mine;
        yield anEvent({ name: "" });
        yield anEvent({ name: "last" });
      };
      const service = new Service();
      const options = {
        batchSize: 2,
        concurrency: 1,
        checkpoint,
        onRejected: () => {
          throw mine;
        },
      };
      const failing = run(source(), async (_operation, payload) => service.record(payload), options);
      await expect(failing).rejects.toBe(mine);
      if (who !== "save") expect(JSON.parse(store.stored ?? "")).toMatchObject({ done: 4 });
    },
  );

  test("a checkpoint of another input, or of a longer one, sends nothing", async () => {
    const service = new Service();
    const answering: Answering = async (_operation, payload) => service.record(payload);
    const store = memoryStore();
    await run(events(10), answering, { checkpoint: store });
    service.recorded.clear();
    const others = events(12).map((event) => ({ ...event, name: "other" }));
    for (const source of [others, events(9)]) {
      const error = await run(source, answering, { checkpoint: store }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConfigurationError);
    }
    expect(service.recorded.size).toBe(0);
  });

  test.each([
    [1, [0, 1, 2, 3, 4, 5]],
    [2, [2, 3, 0, 1, 4, 5]],
  ])(
    "with %i requests under way at once events arrive as %j, where the first is slow",
    async (concurrency, order) => {
      const arrived: unknown[] = [];
      const clock = new FakeClock();
      let calls = 0;
      const call = scriptedCall(clock, async (_operation, payload) => {
        const { events: sent }: { events: readonly GivenEvent[] } = Object(payload);
        await clock.sleep(calls++ === 0 ? 15 : 10);
        arrived.push(...sent.map(({ properties }) => properties?.at));
        return { results: sent.map(() => ({ status: 202 })) };
      });
      const context = contextOf(call);
      await clock.until(ingest(events(6), { batchSize: 2, concurrency }, context));
      expect(arrived).toEqual(order);
    },
  );

  test("the time of a report is in whole milliseconds", async () => {
    const service = new Service();
    const clock = new FakeClock();
    const call = scriptedCall(clock, async (_operation, payload) => {
      await clock.sleep(10.4);
      return service.record(payload);
    });
    const context = contextOf(call);
    expect(await clock.until(ingest(events(1), {}, context))).toMatchObject({ elapsedMs: 10 });
  });

  test("a batch that hangs does not let the others run ahead without end", async () => {
    let taken = 0;
    const source = function* () {
      for (const event of events(10_000)) {
        taken += 1;
        yield event;
      }
    };
    const service = new Service();
    let calls = 0;
    const clock = new FakeClock();
    const call = scriptedCall(clock, async (_operation, payload) =>
      calls++ === 0 ? never : service.record(payload),
    );
    const context = contextOf(call);
    void ingest(source(), { batchSize: 10, concurrency: 2 }, context);
    for (let turns = 100; turns > 0; turns -= 1) await turn();
    expect(taken).toBeLessThan(8 * 10 * 2 + 50);
  });

  test("an abort ends a run whose source has gone quiet, and lets go of the source", async () => {
    let wasClosed = false;
    const quiet: AsyncIterable<EventInput> = {
      [Symbol.asyncIterator]: () => ({
        next: () => never,
        return: async () => {
          wasClosed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const controller = new AbortController();
    const running = run(quiet, async () => ({ results: [] }), { signal: controller.signal });
    const ended = expect(running).rejects.toBe("enough");
    await turn();
    controller.abort("enough");
    await ended;
    expect(wasClosed).toBe(true);
  });
});
