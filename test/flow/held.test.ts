import type { Dispatcher as Undici } from "undici";
import { expect, test } from "vitest";
import { Client, type Dispatcher } from "../../src/index.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

type Handler = Undici.DispatchHandler;

/** Holds requests back, as a pool does that is still connecting. */
class Connecting {
  readonly waiting: Handler[] = [];
  #told: () => void = () => undefined;

  dispatch(_options: unknown, handler: Handler): boolean {
    this.waiting.push(handler);
    this.#told();
    return true;
  }

  /** Resolves when it has been given so many requests. */
  async holds(count: number): Promise<void> {
    while (this.waiting.length < count) {
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }

  /** Gives a request its socket; answers whether it left. */
  connect(at: number): boolean {
    let hasLeft = true;
    const abort = (error: Error): void => {
      hasLeft = false;
      this.waiting[at]?.onResponseError?.(controller, error);
    };
    // What the library uses of undici's controller.
    const controller = { abort } as never;
    this.waiting[at]?.onRequestStart?.(controller, undefined);
    return hasLeft;
  }

  answer(at: number, status: number, headers: Record<string, string>, body: object): void {
    const handler = this.waiting[at];
    handler?.onResponseStart?.(null as never, status, headers);
    handler?.onResponseData?.(null as never, Buffer.from(JSON.stringify(body)));
    handler?.onResponseEnd?.(null as never, {});
  }
}

test("a request whose socket opens during a pause waits until the pause is over", async () => {
  const clock = new FakeClock();
  const pool = new Connecting();
  const client = new Client(
    // What the library uses of a dispatcher.
    {
      apiKey: "key",
      baseUrl: "http://localhost",
      maxRetries: 1,
      hooks: { onResponse: ({ status }) => hear(status ?? 0) },
      dispatcher: pool as unknown as Dispatcher,
    },
    { clock, random: () => 0 },
  );
  let hear: (status: number) => void = () => undefined;
  const heard = new Promise<number>((resolve) => {
    hear = resolve;
  });
  const send = (to: string) => client.emails.send({ to, subject: "Hi", text: "Hi" });
  const ada = send("ada@example.com").catch((error: unknown) => error);
  const bob = send("bob@example.com").withResponse();
  await pool.holds(2);
  expect(pool.connect(0)).toBe(true);
  pool.answer(0, 429, { "retry-after": "2" }, { error: "Too many" });
  expect(await heard).toBe(429);
  await turn();
  expect(pool.connect(1)).toBe(false);
  await clock.advance(1_999);
  expect(pool.waiting).toHaveLength(2);
  await clock.advance(1);
  // One goes first: the next when it is through.
  await pool.holds(3);
  expect(pool.connect(2)).toBe(true);
  pool.answer(2, 200, {}, { id: "m1" });
  await pool.holds(4);
  expect(pool.connect(3)).toBe(true);
  pool.answer(3, 200, {}, { id: "m2" });
  expect((await bob).response.attempts).toBe(1);
  expect(await ada).toMatchObject({ id: expect.stringMatching(/^m[12]$/) });
});
