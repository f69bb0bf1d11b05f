import { setTimeout as sleep } from "node:timers/promises";
import { documentedLimits } from "../../src/options/limits.ts";
import { row } from "../service-process.ts";
import { percent, Worker } from "./live.ts";
import { limitedService } from "./over-sockets.ts";
import { startStore } from "./store.ts";

const { max, windowMs } = documentedLimits.events;
const faultMs = 3_000;
const afterMs = 6_000;

/** Measures how many events four processes with one store send, ten a batch, while a process or the store fails. */
export const faultCells = async (): Promise<void> => {
  const store = await startStore();
  const service = await limitedService("sliding", documentedLimits, 50);
  const events = service.limiters.events;
  const cell = { name: "faults", url: service.url, callers: { "events 10": 8 } };
  const [first, ...others] = await Promise.all([1, 2, 3, 4].map(() => Worker.start([cell], store.url)));
  for (const worker of [first, ...others]) worker?.go();
  const shareOver = async (during: Promise<unknown>): Promise<string> => {
    const [before, since] = [events.accepted, performance.now()];
    await during;
    return percent((events.accepted - before) / max / ((performance.now() - since) / windowMs));
  };
  const faults: Readonly<Record<string, () => Promise<unknown>>> = {
    nothing: () => sleep(faultMs),
    "the store is emptied": async () => {
      await store.empty();
      await sleep(faultMs);
    },
    "a process is paused for 3 s": async () => {
      first?.kill("SIGSTOP");
      await sleep(faultMs);
      first?.kill("SIGCONT");
    },
    "a process is killed": async () => {
      first?.kill("SIGKILL");
      await sleep(faultMs);
    },
    "the store is gone for 3 s": async () => {
      await store.stop();
      await sleep(faultMs);
      await store.again();
    },
  };
  await sleep(10_000);
  console.log(
    `\nfour processes on one ${store.name}, ten events a batch, each fault lasts ${faultMs / 1_000} s`,
  );
  row("", "429s", "share", "6 s after");
  for (const [name, fault] of Object.entries(faults)) {
    const refused = events.refused;
    const during = await shareOver(fault());
    const after = await shareOver(sleep(afterMs));
    row(name, events.refused - refused, during, after);
  }
  for (const worker of [first, ...others]) worker?.kill("SIGKILL");
  service.server.close();
  await store.stop();
};
