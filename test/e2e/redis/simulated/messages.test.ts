import { expect, test } from "vitest";
import { answered } from "../../../support/paced.ts";
import { call, simulatedFleet } from "../../../support/simulated-fleet.ts";

const fleet = simulatedFleet();
const { join, watched } = fleet;

test("a process that sends nothing asks for nothing, and a request takes a read and two writes", async () => {
  const { line, redis } = watched();
  const { send } = join(async () => answered(), {}, { redis });
  void send(call);
  await fleet.store.advance(60_000);
  expect(line.asked).toEqual([0, 2, 154]);
  void send(call);
  await fleet.store.advance(200);
  expect(line.asked).toEqual([0, 2, 154, 60_000, 60_002, 60_154]);
});

test("a request that has ended is told with the next question, and with close()", async () => {
  const { line, redis } = watched();
  const { limiter, send } = join(async () => answered(), {}, { redis });
  void send(call);
  await fleet.store.advance(50);
  void send(call);
  await fleet.store.advance(10);
  void limiter.close();
  await fleet.store.advance(50);
  expect(line.asked).toEqual([0, 2, 50, 60]);
});
