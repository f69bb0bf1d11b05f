import { Redis } from "ioredis";
import type { IoredisSubscriber } from "../../src/redis/commands.ts";
import type { IoredisCommands } from "../../src/redis/index.ts";
import { type FakeClock, turn } from "./fake-clock.ts";

/**
 * A real redis-server on the test's clock. Scripts read that clock, and on it a command takes only the given latency.
 */
export class SimulatedRedis {
  readonly redis: Redis;
  readonly #clock: FakeClock;
  readonly #listeners = new Set<(channel: string, message: string) => void>();
  #underWay = 0;
  /** How far the server's clock is ahead of the test's clock. */
  aheadMs = 0;

  constructor(port: number, clock: FakeClock) {
    this.redis = new Redis(port, "127.0.0.1");
    this.#clock = clock;
  }

  /** The commands of one process. Each takes `latencyMs` in each direction. */
  commands(latencyMs = 0): IoredisCommands {
    return {
      // No script is known by its hash, so each arrives as text, and its clock can be replaced.
      evalsha: async () => {
        throw new Error("NOSCRIPT");
      },
      eval: async (script, keyCount, ...values) => {
        if (latencyMs > 0) await this.#clock.sleep(latencyMs);
        const answer = await this.#run(script, keyCount, values);
        if (latencyMs > 0) await this.#clock.sleep(latencyMs);
        return answer;
      },
      duplicate: () => this.#subscriber(latencyMs),
    };
  }

  /** Receives the messages of every channel, which is harmless. */
  #subscriber(latencyMs: number): IoredisSubscriber {
    let heard: (channel: string, message: string) => void = () => undefined;
    return {
      // Only the listener for messages has two arguments.
      on: (event: string, listener: (...values: never[]) => void) => {
        if (event !== "message") return;
        const tell = listener as (channel: string, message: string) => void;
        heard = (channel, message) => void this.#clock.sleep(latencyMs).then(() => tell(channel, message));
        this.#listeners.add(heard);
      },
      subscribe: async () => undefined,
      disconnect: () => void this.#listeners.delete(heard),
    };
  }

  /** Moves the clock. Before each step, every command in flight is answered. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left >= 0; ) {
      await turn();
      while (this.#underWay > 0) await turn();
      const step = Math.min(left, this.#clock.nextInMs ?? left);
      if (step === left && (this.#clock.nextInMs ?? left + 1) > left) {
        await this.#clock.advance(left);
        break;
      }
      await this.#clock.advance(step);
      left -= step;
    }
    while (this.#underWay > 0) await turn();
  }

  async #publish(): Promise<void> {
    const news = await this.redis.lrange("news", 0, -1);
    if (news.length === 0) return;
    await this.redis.del("news");
    for (let at = 0; at < news.length; at += 2)
      for (const heard of this.#listeners) heard(news[at] ?? "", news[at + 1] ?? "");
  }

  async #run(script: string, keyCount: number, values: readonly string[]): Promise<unknown> {
    const micros = Math.round((this.#clock.wallTime() + this.aheadMs) * 1_000);
    const timed = script
      .replaceAll("redis.call('TIME')", "{ ARGV[#ARGV - 1], ARGV[#ARGV] }")
      .replaceAll("redis.pcall('PUBLISH',", "redis.call('RPUSH', 'news',");
    const time = [String(Math.floor(micros / 1e6)), String(micros % 1e6)];
    this.#underWay += 1;
    try {
      const answer = await this.redis.eval(timed, keyCount, ...values, ...time);
      if (script.includes("PUBLISH")) await this.#publish();
      return answer;
    } finally {
      this.#underWay -= 1;
    }
  }
}
