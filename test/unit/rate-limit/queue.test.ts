import { describe, expect, test } from "vitest";
import type { Send } from "../../../src/http/types.ts";
import type { Limits } from "../../../src/options/limits.ts";
import type { BudgetName } from "../../../src/service/define.ts";
import { FakeClock, turn } from "../../support/fake-clock.ts";
import { answered, paced, requestOn } from "../../support/paced.ts";
import type { SendingSpec } from "../../support/sending.ts";

const tiny: Partial<Limits> = {
  requests: { max: 100, windowMs: 10_000 },
  emails: { max: 1, windowMs: 1_000 },
  events: { max: 10, windowMs: 1_000 },
};

/** Requests by name, and the order and times in which they went; each is answered at once. */
const queue = (limits: Partial<Limits> = tiny) => {
  const clock = new FakeClock();
  const went: string[] = [];
  const { send, limiter } = paced(
    async ({ operation }) => {
      went.push(`${operation.id} ${Math.floor(clock.now())}`);
      return answered();
    },
    { clock, limits },
  );
  const ask = (name: string, budgets: readonly BudgetName[], change: SendingSpec = {}) => {
    const answer = send({ ...requestOn(budgets, change), operation: name });
    answer.catch(() => undefined);
    return answer;
  };
  return { clock, went, ask, limiter };
};

const emails = ["requests", "emails"] as const;
const events = ["requests", "events"] as const;
const background = { priority: "background" } as const;

test("within a priority the first to come goes first, also when the next would fit", async () => {
  const { clock, went, ask } = queue();
  void ask("six", events, { weight: 6 });
  void ask("eight", events, { weight: 8 });
  void ask("two", events, { weight: 2 });
  await clock.advance(3_000);
  expect(went).toEqual(["six 0", "eight 1001", "two 1001"]);
});

test("an interactive call goes before background work that came first", async () => {
  const { clock, went, ask } = queue();
  for (const name of ["first", "second", "third"]) void ask(name, events, { ...background, weight: 10 });
  await clock.advance(10);
  void ask("interactive", events, { weight: 10 });
  await clock.advance(3_500);
  expect(went).toEqual(["first 0", "interactive 1001", "second 2002", "third 3003"]);
});

test("what a batch waits for is not taken by a smaller one of another client of the key", async () => {
  const clock = new FakeClock();
  const went: string[] = [];
  const next: Send = async ({ operation }) => {
    went.push(`${operation.id} ${Math.floor(clock.now())}`);
    return answered();
  };
  const one = paced(next, { clock, limits: tiny });
  const other = paced(next, { clock, limiter: one.limiter });
  void one.send({ ...requestOn(events, { weight: 6 }), operation: "six" });
  void one.send({ ...requestOn(events, { weight: 8 }), operation: "eight" });
  void other.send({ ...requestOn(events, { weight: 2 }), operation: "two" });
  await clock.advance(3_000);
  expect(went).toEqual(["six 0", "eight 1001", "two 1001"]);
});

test("a request that waits for one budget delays no others and takes no permits of another budget", async () => {
  const { clock, went, ask, limiter } = queue();
  for (const name of ["first", "second"]) void ask(name, emails);
  void ask("event", events);
  void ask("contact", ["requests"]);
  await turn();
  expect(went).toEqual(["first 0", "event 0", "contact 0"]);
  expect(limiter.state().requests.used).toBe(3);
  await clock.advance(2_000);
  expect(went.at(-1)).toBe("second 1001");
});

test("an abort leaves the queue at once, with the signal's reason, and lets the next one go", async () => {
  const { went, ask } = queue();
  const abort = new AbortController();
  void ask("six", events, { weight: 6 });
  const large = ask("large", events, { weight: 8, signal: abort.signal });
  void ask("small", events, { weight: 2 });
  await turn();
  abort.abort(new Error("enough"));
  await expect(large).rejects.toThrow("enough");
  expect(went).toEqual(["six 0", "small 0"]);
});

test("a call is refused when a call ahead of it takes the last permit of the day", async () => {
  const { clock, went, ask } = queue({ ...tiny, emailsPerDay: 2 });
  void ask("first", emails);
  void ask("second", emails, background);
  let outcome: unknown;
  // The permit is back, and the timer that tells of it has not fired yet.
  clock.after(1_001.0995, () => {
    outcome = ask("third", emails).then(String, ({ limit }) => limit);
  });
  await clock.advance(1_002);
  expect(went).toEqual(["first 0", "second 1001"]);
  expect(await Promise.race([outcome, turn().then(() => "it waits")])).toBe("emailsPerDay");
});

test("a signal keeps no listener of a request that went, or was refused", async () => {
  const { clock, ask } = queue();
  const abort = new AbortController();
  const { signal } = abort;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners += 1;
    add(...given);
  };
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...given);
  };
  const answers = [1, 2].map(() => ask("email", emails, { signal }));
  await turn();
  expect(listeners).toBe(1);
  await clock.until(Promise.all(answers));
  expect(listeners).toBe(0);
});

test("each budget counts the requests that wait and spend it, by priority", async () => {
  const { clock, ask, limiter } = queue();
  for (const name of ["first", "second", "third"]) void ask(name, emails);
  void ask("background", emails, background);
  await turn();
  const waiting = () => Object.values(limiter.state()).map((state) => Object.values(state.waiting));
  expect(waiting()).toEqual([
    [2, 1],
    [0, 0],
    [2, 1],
    [0, 0],
    [0, 0],
    [0, 0],
  ]);
  await clock.advance(5_000);
  expect(
    waiting()
      .flat()
      .every((count) => count === 0),
  ).toBe(true);
});

describe("while interactive calls are about", () => {
  test("background work leaves a reserve: an interactive call goes at once", async () => {
    const { clock, went, ask } = queue();
    void ask("seen", ["requests"]);
    for (let at = 0; at < 200; at += 1) void ask("page", ["requests"], background);
    await clock.advance(5_000);
    expect(went.filter((one) => one === "page 0").length).toBe(90);
    void ask("find", ["requests"]);
    await turn();
    expect(went.at(-1)).toBe("find 5000");
  });

  test("background work uses everything once none was seen for three windows", async () => {
    const { clock, went, ask } = queue();
    void ask("seen", ["requests"]);
    await clock.advance(30_000);
    for (let at = 0; at < 200; at += 1) void ask("page", ["requests"], background);
    await turn();
    expect(went.filter((one) => one === "page 30000").length).toBe(100);
  });

  test("and what is held up by the reserve goes when the reserve ends, though nothing else happens", async () => {
    const { clock, went, ask } = queue();
    void ask("seen", ["requests"], { weight: 1 });
    await clock.advance(20_000);
    for (let at = 0; at < 91; at += 1) void ask("page", ["requests"], background);
    await clock.advance(10_000);
    expect(went.filter((one) => one === "page 30000").length).toBe(1);
  });

  test("background work keeps a tenth, however many of them wait", async () => {
    const { clock, went, ask } = queue({ ...tiny, requests: { max: 20, windowMs: 1_000 } });
    for (let at = 0; at < 400; at += 1) void ask("call", ["requests"]);
    for (let at = 0; at < 40; at += 1) void ask("page", ["requests"], background);
    await clock.advance(10_500);
    const pages = went.filter((one) => one.startsWith("page")).length;
    expect(pages).toBeGreaterThanOrEqual(20);
    expect(pages).toBeLessThanOrEqual(22);
  });

  test("a batch larger than a tenth has its turn once a tenth would have let it through", async () => {
    const { clock, went, ask } = queue();
    for (let at = 0; at < 300; at += 1) void ask("event", events);
    void ask("batch", events, { ...background, weight: 5 });
    void ask("batch", events, { ...background, weight: 5 });
    await clock.advance(12_000);
    const [first, second] = went
      .filter((one) => one.startsWith("batch"))
      .map((one) => Number(one.split(" ")[1]));
    expect([first, (second ?? 0) - (first ?? 0) <= 6_100]).toEqual([expect.any(Number), true]);
  });
});
