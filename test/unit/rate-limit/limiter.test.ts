import { expect, test } from "vitest";
import { AttemptFailure } from "../../../src/http/types.ts";
import { Slots } from "../../../src/rate-limit/concurrency.ts";
import { Traffic } from "../../../src/rate-limit/limiter.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { answered, paced, requestOn } from "../../support/paced.ts";

test("clients that share slots stand in one line, by what they spend; others count with them", () => {
  const traffic = new Traffic(false, new FakeClock());
  const [slots, others] = [new Slots(1), new Slots(1)];
  const ofEvents = traffic.laneOf(slots, ["requests", "events"]);
  expect(traffic.laneOf(slots, ["requests", "events"])).toBe(ofEvents);
  const { requests, events } = traffic.budgets;
  expect([ofEvents.resources, ofEvents.weighted]).toEqual([[slots, requests, events], events]);
  const plain = traffic.laneOf(slots, ["requests"]);
  expect([plain.resources, plain.kind === ofEvents.kind]).toEqual([[slots, requests], false]);
  const elsewhere = traffic.laneOf(others, ["requests", "events"]);
  expect([elsewhere.kind === ofEvents.kind, elsewhere.resources[0] === others]).toEqual([true, true]);
});

test("what is in flight counts until it is over, whatever becomes of it", async () => {
  const seen: unknown[] = [];
  const ends = [
    () => answered(),
    () => {
      throw new AttemptFailure("connection", "refused", { wasSent: false });
    },
    () => {
      throw new AttemptFailure("timeout", "no answer", { wasSent: true });
    },
  ];
  const slots = new Slots(9);
  const { send, traffic } = paced(
    async () => {
      seen.push({ ...kind.inFlight });
      return (ends.shift() ?? answered)();
    },
    { slots },
  );
  const { kind } = traffic.laneOf(slots, ["requests", "events"]);
  for (let at = 0; at < 3; at += 1)
    await send(requestOn(["requests", "events"], { weight: 7 })).catch(() => undefined);
  expect(seen).toEqual(Array.from({ length: 3 }, () => ({ requests: 1, weight: 7 })));
  expect(kind.inFlight).toEqual({ requests: 0, weight: 0 });
});
