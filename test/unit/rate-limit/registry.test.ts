import { expect, test, vi } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { documentedLimits } from "../../../src/options/limits.ts";
import { logTo } from "../../../src/options/logger.ts";
import type { Settings } from "../../../src/options/options.ts";
import { sharedLimiter } from "../../../src/rate-limit/limiter.ts";
import { ConcurrencyLimit } from "../../../src/rate-limit/queue.ts";
import { rateLimit } from "../../../src/rate-limit/stage.ts";
import { createSandbox } from "../../../src/sandbox/index.ts";
import type { BudgetName } from "../../../src/service/define.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { answered, requestOn } from "../../support/paced.ts";
import { through } from "../../support/sending.ts";
import { sharedBudget } from "../../support/shared-budget.ts";

// What identifies a limiter, and the log.
const settings = {
  apiKey: "key of two copies",
  origin: "https://copies.test",
  basePath: "",
  limits: documentedLimits,
  limitScopes: {},
  sharing: undefined,
  fetch: undefined,
  log: logTo(undefined, "warn"),
} as Settings;
const clock = new FakeClock();

const limiterOf = (change: Partial<Settings> = {}) => sharedLimiter({ ...settings, ...change }, clock);
const shared = (one: ReturnType<typeof limiterOf>, other: ReturnType<typeof limiterOf>): readonly string[] =>
  (["requests", "emails", "events"] as const).filter((name) => one.budgets[name] === other.budgets[name]);

test("the budgets of a process belong to one version of the package, whose copies alone can use them", () => {
  limiterOf();
  const places = Object.getOwnPropertySymbols(globalThis).map(({ description }) => description);
  const ours = places.filter((name) => name?.startsWith("touchpoint-sdk.budgets"));
  expect(ours).toEqual([`touchpoint-sdk.budgets ${manifest.version}`]);
});

test("two copies of the package share a key's budgets over any transport except a sandbox", async () => {
  vi.resetModules();
  const second = await import("../../../src/rate-limit/limiter.ts");
  expect(second.sharedLimiter).not.toBe(sharedLimiter);
  const theirs = (fetch: Settings["fetch"]) => second.sharedLimiter({ ...settings, fetch }, clock);
  const [one, other] = [async () => new Response(), async () => new Response()];
  const [sandbox, secondSandbox] = [createSandbox(), createSandbox()];
  const all = ["requests", "emails", "events"];
  expect(shared(limiterOf({ fetch: one }), theirs(other))).toEqual(all);
  expect(shared(limiterOf({ fetch: one }), theirs(undefined))).toEqual(all);
  expect(shared(limiterOf({ fetch: sandbox.fetch }), theirs(sandbox.fetch))).toEqual(all);
  expect(shared(limiterOf({ fetch: sandbox.fetch }), theirs(secondSandbox.fetch))).toEqual([]);
  expect(shared(limiterOf({ fetch: sandbox.fetch }), theirs(undefined))).toEqual([]);
});

test("requests of both copies wait in one queue, interactive ones of either first", async () => {
  vi.resetModules();
  const second = await import("../../../src/rate-limit/limiter.ts");
  const theirStage = (await import("../../../src/rate-limit/stage.ts")).rateLimit;
  const own = { ...settings, origin: "https://one-queue.test" };
  const went: string[] = [];
  const from = (limiter: ReturnType<typeof limiterOf>, stage: typeof rateLimit, name: string) => {
    const send = through(
      stage({
        limiter,
        slots: new ConcurrencyLimit(9),
        clock,
        maxRetryAfterMs: 1,
        interactiveReserve: 0,
        maxQueued: 9,
      }),
      async ({ plan: { priority } }) => {
        went.push(`${name} ${priority}`);
        return answered();
      },
    );
    return (budgets: readonly BudgetName[], weight: number, priority: "interactive" | "background") =>
      void send(requestOn(budgets, { weight, priority }));
  };
  const ours = from(sharedLimiter(own, clock), rateLimit, "ours");
  const theirs = from(second.sharedLimiter(own, clock), theirStage, "theirs");
  ours(["requests", "events"], 50, "background");
  ours(["requests", "events"], 50, "background");
  theirs(["requests", "events"], 50, "interactive");
  await clock.advance(3_000);
  expect(went).toEqual(["ours background", "theirs interactive", "ours background"]);
});

test("different limits for one key are a ConfigurationError; clients without limits share pauses", () => {
  const first = limiterOf();
  const limits = { ...documentedLimits, events: { max: 10, windowMs: 1_000 } };
  expect(() => limiterOf({ limits })).toThrow(
    "limits: the limit events of this key is 50 per 1000 ms and 100000 per day in another client, " +
      "but 10 per 1000 ms and 100000 per day in this one. Give both clients the same numbers",
  );
  const [one, other] = [limiterOf({ limits: false }), limiterOf({ limits: false })];
  expect([shared(first, one), shared(one, other)]).toEqual([[], ["requests", "emails", "events"]]);
});

test("in workerd, where no request may wake another, each client has budgets of its own", () => {
  const first = limiterOf();
  vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" });
  const [one, other] = [limiterOf(), limiterOf()];
  vi.unstubAllGlobals();
  expect([shared(first, one), shared(one, other)]).toEqual([[], []]);
});

test("keys share what they name alike, and nothing else", () => {
  const workspace = { events: "workspace-7" };
  const one = limiterOf({ apiKey: "one", limitScopes: workspace });
  expect(shared(one, limiterOf({ apiKey: "two", limitScopes: workspace }))).toEqual(["events"]);
  expect(shared(one, limiterOf({ apiKey: "two", limitScopes: { emails: "workspace-7" } }))).toEqual([]);
  expect(shared(one, limiterOf({ apiKey: "one" }))).toEqual(["requests", "emails"]);
});

test("a name is the origin's: whatever fetch and base path, and no other origin's", () => {
  const named = { limitScopes: { events: "everywhere" } };
  const elsewhere = { ...named, apiKey: "another", basePath: "/v2", fetch: async () => new Response() };
  expect(shared(limiterOf(named), limiterOf(elsewhere))).toEqual(["events"]);
  expect(shared(limiterOf(named), limiterOf({ ...elsewhere, origin: "https://other.test" }))).toEqual([]);
});

test("different numbers under one name are a ConfigurationError with both", () => {
  const limitScopes = { events: "numbered" };
  const first = limiterOf({ limitScopes });
  const limits = { ...documentedLimits, eventsPerDay: 7 };
  expect(() => limiterOf({ apiKey: "other", limitScopes, limits })).toThrow(
    'limitScopes: "numbered" is 50 per 1000 ms and 100000 per day in another client, ' +
      "but 50 per 1000 ms and 7 per day in this one",
  );
  expect(first.budgets.events.day.max).toBe(100_000);
});

test("a key function shares what it names, and all that it does not name by the name of its requests", () => {
  const apiKey = () => "secret";
  expect(shared(limiterOf({ apiKey }), limiterOf({ apiKey }))).toEqual([]);
  const [emails, requests] = [{ limitScopes: { emails: "sales" } }, { limitScopes: { requests: "rotated" } }];
  expect(shared(limiterOf({ apiKey, ...emails }), limiterOf({ apiKey, ...emails }))).toEqual(["emails"]);
  expect(shared(limiterOf({ apiKey, ...requests }), limiterOf({ apiKey: () => "x", ...requests }))).toEqual([
    "requests",
    "emails",
    "events",
  ]);
});

test("through shared limits the id counts, not the key, unless a name does", () => {
  const opened: (string | undefined)[] = [];
  const sharing: Settings["sharing"] = {
    numbers: documentedLimits,
    open: (name, { scope }) => {
      opened.push(`${name} ${scope}`);
      const max = name === "sending" ? Infinity : documentedLimits[`${name}PerDay`];
      return sharedBudget({ max }).shared;
    },
  };
  const one = limiterOf({ sharing, apiKey: "one" });
  expect(shared(one, limiterOf({ sharing, apiKey: () => "two", limitScopes: { events: "w" } }))).toEqual([
    "requests",
    "emails",
  ]);
  expect(opened).toEqual([
    ...["requests undefined", "emails undefined", "events undefined", "sending undefined"],
    "events w",
  ]);
});

test("the end of one client leaves those of another that wait for the same shared limit their time", async () => {
  const ownClock = new FakeClock();
  const goesAt = 1_000;
  const { shared: limit, log } = sharedBudget();
  const gateOf: typeof limit.gateOf = (kind) => ({
    ...limit.gateOf(kind),
    readyAt: () => (ownClock.now() < goesAt ? goesAt : undefined),
  });
  const sharing: Settings["sharing"] = {
    numbers: documentedLimits,
    open: (_name, { maxPerDay }) => ({ ...limit, max: maxPerDay, gateOf }),
  };
  const [one, other] = [1, 2].map(() => sharedLimiter({ ...settings, sharing }, ownClock));
  const slots = new ConcurrencyLimit(9);
  const waits = { slots, clock: ownClock, maxRetryAfterMs: 1, interactiveReserve: 0, maxQueued: 9 };
  const sentAt: number[] = [];
  const send =
    other &&
    through(rateLimit({ limiter: other, ...waits }), async () => {
      sentAt.push(ownClock.now());
      return answered();
    });
  void send?.(requestOn(["requests"]));
  await one?.close();
  expect(log.at(-1)).toBe("closed");
  await ownClock.advance(2 * goesAt);
  expect(sentAt).toEqual([goesAt]);
});
