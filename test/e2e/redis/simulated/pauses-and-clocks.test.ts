import { expect, test } from "vitest";
import type { Send } from "../../../../src/http/types.ts";
import type { IoredisCommands } from "../../../../src/redis/index.ts";
import { answered, requestOn } from "../../../support/paced.ts";
import { call, limits, saturate, simulatedFleet } from "../../../support/simulated-fleet.ts";

const fleet = simulatedFleet();
const { join, strict } = fleet;

test("a pause reaches the others with the time that two messages take, and tells what it was", async () => {
  const sent: string[] = [];
  const at =
    (name: string): Send =>
    async () => {
      sent.push(`${name} ${fleet.clock.now()}`);
      return name === "a" && sent.length === 3 ? answered(429, { "retry-after": "5" }) : answered();
    };
  const [a, b] = [join(at("a")), join(at("b"))];
  void a.send(call);
  await fleet.store.advance(10);
  void b.send(call);
  await fleet.store.advance(90);
  void a.send(requestOn(["requests"], { operation: "contacts.update" }));
  await fleet.store.advance(3);
  void b.send(call);
  void b.send(call);
  await fleet.store.advance(100);
  expect(sent.length).toBe(3);
  const pausedBy = "429 on contacts.update";
  expect([a, b].map(({ limiter }) => limiter.state().requests.pausedBy)).toEqual([pausedBy, pausedBy]);
  await fleet.store.advance(6_000);
  expect(sent.map((line) => line.split(" ")[0])).toEqual(["a", "b", "a", "b", "b"]);
  const first = Number(sent[3]?.split(" ")[1]);
  expect(first).toBeGreaterThanOrEqual(5_100);
});

test("a full mail account stops sending in every process, and scheduling in none", async () => {
  const sent: string[] = [];
  const at =
    (name: string): Send =>
    async ({ operation: { stopsAlone } }) => {
      sent.push(`${name} ${stopsAlone ? "sends" : "schedules"}`);
      return stopsAlone ? answered(429, { "retry-after": "3600" }) : answered();
    };
  const [a, b] = [join(at("a")), join(at("b"))];
  const schedule = requestOn(["requests", "emails"]);
  const email = { ...schedule, stopsAlone: true };
  void a.send(email);
  await fleet.store.advance(100);
  const refused = b.send(email).catch((error: unknown) => error);
  for (const one of [a, b]) void one.send(schedule);
  await fleet.store.advance(100);
  expect(await refused).toMatchObject({ name: "RateLimitError", limit: "emails", outcome: "not-applied" });
  expect(sent.sort()).toEqual(["a schedules", "a sends", "b schedules"]);
  expect(b.limiter.state().emails).toMatchObject({ used: 3, pausedBy: "429 on requests+emails" });
});

test("a server whose clock steps back an hour during a pause adds no wait", async () => {
  let sent = 0;
  const { send, limiters } = strict();
  const paused: Send = async () => answered(429, { "retry-after": "5" });
  const first = join((...sending) => (sent++ === 0 ? paused(...sending) : send(...sending)));
  void first.send(call);
  await fleet.store.advance(1_900);
  void first.send(call);
  await fleet.store.advance(100);
  fleet.store.aheadMs = -3_600_000;
  // It has heard of no pause but from the server.
  const second = join(send);
  for (const one of [first, second]) saturate(one, call);
  await fleet.store.advance(2_900);
  expect(limiters.requests.accepted).toBe(0);
  await fleet.store.advance(1_200);
  expect(limiters.requests.accepted).toBe(50);
  // The pause may last longer by the silence before the step, which was less than a second.
  await fleet.store.advance(10_000);
  expect(limiters.requests.accepted).toBeGreaterThanOrEqual(500);
  expect(limiters.requests.refused).toBe(0);
});

test.each([2_000, 3_600_000, -3_600_000])(
  "a server whose clock steps by %i ms lets no request go early, and costs less than a window",
  async (stepMs) => {
    const { send, limiters } = strict();
    const processes = [join(send), join(send), join(send)];
    for (const one of processes) saturate(one, call);
    await fleet.store.advance(5_050);
    const before = limiters.requests.accepted;
    fleet.store.aheadMs = stepMs;
    await fleet.store.advance(20_000);
    fleet.store.aheadMs = 0;
    await fleet.store.advance(20_000);
    expect(limiters.requests.refused).toBe(0);
    expect(limiters.requests.accepted - before).toBeGreaterThanOrEqual(38 * limits.requests.max);
  },
);

test("a message that is on its way for seconds lets no request go early", async () => {
  const { send, limiters } = strict();
  const commands = fleet.store.commands(1);
  let waysMs: readonly number[] = [];
  const slow: IoredisCommands = {
    ...commands,
    eval: async (...values) => {
      const [wayMs = 0, ...rest] = waysMs;
      waysMs = rest;
      if (wayMs > 0) await fleet.clock.sleep(wayMs);
      return commands.eval(...values);
    },
  };
  const [late, other] = [join(send, {}, { redis: slow }), join(send)];
  for (const one of [late, other]) void one.send(call);
  await fleet.store.advance(2_000);
  waysMs = [2_900];
  for (let at = 0; at < 50; at += 1) void late.send(call);
  await fleet.store.advance(3_500);
  for (let at = 0; at < 50; at += 1) void other.send(call);
  await fleet.store.advance(10_000);
  expect([limiters.requests.accepted, limiters.requests.refused]).toEqual([102, 0]);
});

test("a server whose clock steps forward an hour ends no pause", async () => {
  const sentAt: number[] = [];
  const next: Send = async () => {
    sentAt.push(fleet.clock.now());
    return sentAt.length === 1 ? answered(429, { "retry-after": "5" }) : answered();
  };
  const [first, second] = [join(next), join(next)];
  void first.send(call);
  await fleet.store.advance(500);
  void second.send(call);
  await fleet.store.advance(500);
  fleet.store.aheadMs = 3_600_000;
  // One that knows of the pause from the server, one from the service, and one that knows of nothing.
  for (const one of [second, first, join(next)]) void one.send(call);
  await fleet.store.advance(3_900);
  expect(sentAt.length).toBe(1);
  await fleet.store.advance(3_000);
  expect(sentAt.length).toBe(5);
});
