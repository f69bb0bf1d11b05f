import { describe, expect, test } from "vitest";
import { RateLimitError } from "../../../src/errors.ts";
import type { HttpResponse } from "../../../src/http/message.ts";
import { AttemptFailure, type Send } from "../../../src/http/types.ts";
import { documentedLimits } from "../../../src/options/limits.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { answered, paced, requestOn } from "../../support/paced.ts";
import { clientCall, type SendingSpec } from "../../support/sending.ts";
import { constantLatency, randomLatency, simulatedService } from "../../support/simulation.ts";

const contact = requestOn(["requests"]);
const email = requestOn(["requests", "emails"]);
const event = requestOn(["requests", "events"]);

/** Answers by the clock: the operations in the order in which they left, each with its time. */
const recorded = (answer: (operation: string, at: number) => HttpResponse = () => answered()) => {
  const clock = new FakeClock();
  const left: string[] = [];
  const next: Send = async ({ operation }) => {
    left.push(`${clock.now()} ${operation.id}`);
    return answer(operation.id, clock.now());
  };
  return { clock, left, next };
};

describe("a 429", () => {
  const refusedAtFirst = (refused: string, retryAfter: string) =>
    recorded((operation, at) =>
      operation === refused && at === 0 ? answered(429, { "retry-after": retryAfter }) : answered(),
    );

  test("on an email stops emails, not contacts", async () => {
    const { clock, left, next } = refusedAtFirst("requests+emails", "5");
    const { send } = paced(next, { clock });
    await send(email);
    const second = send(email);
    await send(contact);
    await clock.until(second);
    expect(left).toEqual(["0 requests+emails", "0 requests", "5000 requests+emails"]);
  });

  test("on a plain call stops everything", async () => {
    const { clock, left, next } = refusedAtFirst("requests", "5");
    const { send } = paced(next, { clock });
    await send(contact);
    await clock.until(Promise.all([send(email), send(event)]));
    expect(left).toEqual(["0 requests", "5000 requests+emails", "5000 requests+events"]);
  });

  test("holds with limits: false, too", async () => {
    const { clock, left, next } = refusedAtFirst("requests", "5");
    const { send } = paced(next, { clock, limits: false });
    await send(contact);
    await clock.until(send(contact));
    expect(left).toEqual(["0 requests", "5000 requests"]);
  });

  test("without a time stops its budget for a second", async () => {
    const { clock, left, next } = recorded((_, at) => answered(at === 0 ? 429 : 200));
    const { send } = paced(next, { clock });
    await send(contact);
    await clock.until(send(contact));
    expect(left).toEqual(["0 requests", "1000 requests"]);
  });

  test("that asks for longer than maxRetryAfterMs refuses waiting and new requests, with the time left", async () => {
    const { clock, left, next } = refusedAtFirst("requests+emails", "28800");
    const { send } = paced(next, { clock, limits: { emails: { max: 1, windowMs: 60_000 } } });
    const first = send(email);
    const waiting = send(email).catch((error: unknown) => error);
    await first;
    const error = await waiting;
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ retryAfterMs: 28_800_000, attempts: 0, outcome: "not-applied" });
    await clock.advance(60_000);
    await expect(send(email)).rejects.toMatchObject({ retryAfterMs: 28_740_000 });
    await send(contact);
    expect(left).toEqual(["0 requests+emails", "60000 requests"]);
  });
});

test("a 503 stops its budget only when it names a time", async () => {
  const { clock, left, next } = recorded((_, at) =>
    at === 0 ? answered(503) : at === 1 ? answered(503, { "retry-after": "3" }) : answered(),
  );
  const { send } = paced(next, { clock });
  await send(contact);
  await clock.advance(1);
  await send(contact);
  await clock.until(send(contact));
  expect(left).toEqual(["0 requests", "1 requests", "3001 requests"]);
});

test("after a pause one request goes first, and the rest once it is answered", async () => {
  const clock = new FakeClock();
  const left: number[] = [];
  const { send } = paced(
    async () => {
      left.push(clock.now());
      await clock.sleep(100);
      return left.length === 1 ? answered(429, { "retry-after": "2" }) : answered();
    },
    { clock },
  );
  await clock.until(send(contact));
  await clock.until(Promise.all([send(contact), send(contact), send(contact)]));
  expect(left).toEqual([0, 2_100, 2_200, 2_200]);
});

test("a probe that is refused pauses again: the rest waits that out too", async () => {
  const clock = new FakeClock();
  const left: number[] = [];
  const { send } = paced(
    async () => {
      left.push(clock.now());
      return left.length <= 2 ? answered(429, { "retry-after": "2" }) : answered();
    },
    { clock },
  );
  await send(contact);
  await clock.until(Promise.all([send(contact), send(contact), send(contact)]));
  expect(left).toEqual([0, 2_000, 4_000, 4_000]);
});

test("an aborted request leaves the queue at once and spends nothing", async () => {
  const { clock, left, next } = recorded();
  const { send, limiter } = paced(next, { clock, limits: { emails: { max: 1, windowMs: 60_000 } } });
  await send(email);
  const abort = new AbortController();
  const waiting = send({ ...email, signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect([left.length, limiter.state().emailsPerDay.used, clock.pending]).toEqual([1, 1, 0]);
});

test("a long ingestion does not starve calls of other budgets", async () => {
  const { clock, left, next } = recorded();
  const { send } = paced(next, { clock });
  const batch = { ...event, weight: 50 };
  const ingestion = Promise.all([send(batch), send(batch), send(batch)]);
  await send(contact);
  await send(email);
  await turn();
  expect(left).toEqual(["0 requests+events", "0 requests", "0 requests+emails"]);
  await clock.until(ingestion);
});

/** Callers that send one request after the other for five minutes, 50 ms each: how much of each limit they get. */
const sharesOf = async (lines: readonly { readonly callers: number; readonly request: SendingSpec }[]) => {
  const clock = new FakeClock();
  const limits = { ...documentedLimits, requestsPerDay: 1e9, emailsPerDay: 1e9, eventsPerDay: 1e9 };
  const latency = constantLatency(25, 25);
  const service = simulatedService(clock, { counting: "sliding", limits, latency });
  const { send } = paced(service.send, { clock, limits });
  const untilMs = 300_000;
  for (const { callers, request } of lines)
    for (let caller = 0; caller < callers; caller += 1)
      void (async () => {
        while (clock.now() < untilMs) await send(request);
      })();
  const { events, requests } = service.limiters;
  await clock.advance(60_000);
  const first = { events: events.accepted, requests: requests.accepted };
  await clock.advance(untilMs - 60_000);
  expect([events.refused, requests.refused]).toEqual([0, 0]);
  return {
    // In the first minute; the others from then on.
    first: first.events / (60 * 50),
    events: (events.accepted - first.events) / (240 * 50),
    requests: (requests.accepted - first.requests) / (24 * 100),
  };
};

test.each([3, 5, 20])(
  "of a mixed load events keep their share with %i callers a lane, and nothing lies idle",
  async (callers) => {
    const lines = [{ ...event, weight: 25 }, email, contact];
    const { first, events, requests } = await sharesOf(lines.map((request) => ({ callers, request })));
    expect(first).toBeGreaterThanOrEqual(0.85);
    expect(events).toBeGreaterThanOrEqual(0.9);
    expect(requests).toBeGreaterThanOrEqual(0.9);
  },
);

test.each([
  [5, 0.8],
  [30, 0.35],
])(
  "one caller with batches is not left without requests by %i that need nothing else",
  async (callers, share) => {
    const { events } = await sharesOf([
      { callers: 1, request: { ...event, weight: 50 } },
      { callers, request: contact },
    ]);
    expect(events).toBeGreaterThanOrEqual(share);
  },
);

test("while the one that goes first after a pause stays out, those go on that do not spend its budget", async () => {
  const clock = new FakeClock();
  const contacts: number[] = [];
  let events = 0;
  const { send } = paced(
    async ({ operation: { budgets } }) => {
      if (budgets.length === 1) contacts.push(clock.now());
      else if (++events === 1) return answered(429, { "retry-after": "1" });
      else await clock.sleep(29_000);
      return answered();
    },
    { clock },
  );
  void send(event);
  await turn();
  for (let at = 0; at < 120; at += 1) void send(event);
  for (let at = 0; at < 400; at += 1) void send(contact);
  await clock.advance(25_000);
  expect(contacts.length).toBeGreaterThanOrEqual(90);
});

test("waiting for one budget spends none of another", async () => {
  const { clock, next } = recorded();
  const { send, limiter } = paced(next, { clock, limits: { emails: { max: 1, windowMs: 60_000 } } });
  await send(email);
  const abort = new AbortController();
  const waiting = Array.from({ length: 5 }, () =>
    send({ ...email, signal: abort.signal }).catch(() => "aborted"),
  );
  await turn();
  expect(limiter.state().requests.used).toBe(1);
  abort.abort();
  await Promise.all(waiting);
});

test("a request that never left is not counted, neither in its window nor in its day", async () => {
  const { send, limiter } = paced(async () => {
    throw new AttemptFailure("connection", "refused", { wasSent: false });
  });
  await expect(send({ ...event, weight: 7 })).rejects.toThrow("refused");
  const { requests, requestsPerDay, events, eventsPerDay } = limiter.state();
  expect([requests.used, requestsPerDay.used, events.used, eventsPerDay.used]).toEqual([0, 0, 0, 0]);
});

test("a request without a response is counted, because the service may have counted it", async () => {
  const { send, limiter } = paced(async () => {
    throw new AttemptFailure("timeout", "no response", { wasSent: true });
  });
  await expect(send({ ...event, weight: 7 })).rejects.toThrow("no response");
  expect([limiter.state().events.used, limiter.state().eventsPerDay.used]).toEqual([7, 7]);
});

describe("a day that is used up", () => {
  test("is a RateLimitError at once that says when more frees", async () => {
    const { clock, left, next } = recorded();
    const { send } = paced(next, { clock, limits: { emailsPerDay: 2 } });
    await send(email);
    await clock.advance(3_600_000);
    await send(email);
    await expect(send(email)).rejects.toMatchObject({
      name: "RateLimitError",
      status: 429,
      retryAfterMs: 23 * 3_600_000 + 300_000,
      message:
        "requests+emails: not sent, because the limit emailsPerDay is used up (2 of 2); it allows more in 23.1 h",
    });
    expect(left.length).toBe(2);
  });

  test("is never overspent by those who were let go together", async () => {
    const { clock, left, next } = recorded();
    const limits = { emails: { max: 2, windowMs: 1_000 }, emailsPerDay: 3 };
    const { send } = paced(next, { clock, limits });
    const all = Array.from({ length: 6 }, () => send(email));
    const results = await clock.until(Promise.allSettled(all));
    expect([left.length, results.map(({ status }) => status[0]).join("")]).toEqual([3, "fffrrr"]);
  });
});

test("a waiting call learns for what, why and how long", async () => {
  const { clock, next } = recorded();
  const { send, waits, limiter } = paced(next, { clock, limits: { emails: { max: 1, windowMs: 60_000 } } });
  await send(email);
  const second = send(email);
  limiter.budgets.requests.pause(2_000);
  const third = send(contact);
  await clock.until(Promise.all([second, third]));
  expect(waits).toEqual([
    { operation: "requests+emails", waitingFor: "emails", reason: "limit", waitMs: 60_007 },
    { operation: "requests", waitingFor: "requests", reason: "pause", waitMs: 2_000 },
  ]);
});

test("a call that goes at once, though another waits, reports no wait", async () => {
  const { clock, next } = recorded();
  const { send, waits } = paced(next, { clock, limits: { emails: { max: 1, windowMs: 60_000 } } });
  await send(email);
  const second = send(email);
  const told: (string | undefined)[] = [];
  await send(
    requestOn(["requests", "events"], {
      onWait: (what) => told.push(what),
    }),
  );
  expect([told, waits.length]).toEqual([[], 1]);
  await clock.until(second);
});

test("a call that waits behind the probe after a pause reports the pause", async () => {
  const clock = new FakeClock();
  const ends: (() => void)[] = [];
  const { send, waits, limiter } = paced(
    () => new Promise((resolve) => ends.push(() => resolve(answered()))),
    { clock, limits: { requests: { max: 3, windowMs: 10_000 } } },
  );
  limiter.budgets.requests.pause(2_000);
  const all = [1, 2].map(() => send(contact));
  await clock.advance(2_100);
  const third = send(contact);
  expect([ends.length, waits.at(-1)]).toEqual([
    1,
    { operation: "requests", waitingFor: "requests", reason: "pause", waitMs: 0 },
  ]);
  for (let sent = 0; sent < 3; sent += 1) {
    ends[sent]?.();
    await turn();
  }
  await Promise.all([...all, third]);
});

describe("a call that lacks nothing and waits behind others reports what they wait for", () => {
  test("with others of its kind, the limit they share", async () => {
    const { clock, next } = recorded();
    const { send, waits } = paced(next, { clock, limits: { events: { max: 10, windowMs: 60_000 } } });
    await send({ ...event, weight: 8 });
    await clock.until(Promise.all([send({ ...event, weight: 5 }), send(event)]));
    expect(waits).toEqual([
      { operation: "requests+events", waitingFor: "events", reason: "limit", waitMs: 60_007 },
      { operation: "requests+events", waitingFor: "events", reason: "limit", waitMs: 60_007 },
    ]);
  });
});

test("a latency that is known is not waited out on top of the window", async () => {
  const clock = new FakeClock();
  const left: number[] = [];
  const next: Send = async () => {
    left.push(clock.now());
    await clock.sleep(50);
    return answered();
  };
  const { send } = paced(next, { clock, limits: { requests: { max: 1, windowMs: 1_000 } } });
  for (let sent = 0; sent < 25; sent += 1) await clock.until(send(contact));
  const gaps = left.map((at, index) => Math.round(at - (left[index - 1] ?? 0)));
  expect([gaps[1], gaps.at(-1)]).toEqual([1_051, 1_016]);
});

test("time in the queue is part of the call's account", async () => {
  const { clock, next } = recorded();
  const { send } = paced(next, { clock, limits: { emails: { max: 1, windowMs: 60_000 } } });
  await send(email);
  const within = clientCall(clock).long("test");
  await clock.until(send({ ...email, within }));
  expect(within.waitedMs).toBe(60_007);
});

describe("against a service that counts on arrival", () => {
  const countings = ["sliding", "fixed", "bucket"] as const;
  const latencies = {
    "no latency": () => constantLatency(0, 0),
    "50 ms before the count": () => constantLatency(50, 0),
    "50 ms after the count": () => constantLatency(0, 50),
    "300 ms around it": () => constantLatency(150, 150),
    "up to 300 ms before the count": () => randomLatency(300, "before"),
    "up to 300 ms after the count": () => randomLatency(300, "after"),
  };
  const loads = {
    requests: { request: contact, budget: "requests", windows: 5 },
    "events of a batch": { request: { ...event, weight: 10 }, budget: "events", windows: 60 },
    emails: { request: email, budget: "emails", windows: 4 },
  } as const;

  for (const counting of countings) {
    for (const [latencyName, latency] of Object.entries(latencies)) {
      test(`${counting} windows, ${latencyName}: no 429`, async () => {
        for (const { request, budget, windows } of Object.values(loads)) {
          const clock = new FakeClock();
          const limits = documentedLimits;
          const service = simulatedService(clock, { counting, limits, latency: latency() });
          const { send } = paced(service.send, { clock });
          const { max, windowMs } = limits[budget];
          const count = (max / (request.weight ?? 1)) * (windows + 1);
          const aborts = Array.from({ length: count }, () => new AbortController());
          const all = aborts.map(({ signal }) => send({ ...request, signal }).catch(() => undefined));
          await clock.advance(windowMs * windows);
          for (const abort of aborts) abort.abort();
          await Promise.all([...all, clock.advance(1_000)]);
          expect(service.limiters[budget].refused).toBe(0);
        }
      });
    }
  }
});
