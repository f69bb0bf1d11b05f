import { Redis } from "ioredis";
import type { IoredisCommands } from "../../src/redis/index.ts";
import { type FakeClock, turn } from "./fake-clock.ts";

/**
 * A real redis-server on the test's clock. Scripts read that clock, and on it a command takes only the given latency.
 */
export class SimulatedRedis {
  readonly redis: Redis;
  readonly #clock: FakeClock;
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

  async #run(script: string, keyCount: number, values: readonly string[]): Promise<unknown> {
    const micros = Math.round((this.#clock.wallTime() + this.aheadMs) * 1_000);
    const timed = script.replaceAll("redis.call('TIME')", "{ ARGV[#ARGV - 1], ARGV[#ARGV] }");
    const time = [String(Math.floor(micros / 1e6)), String(micros % 1e6)];
    this.#underWay += 1;
    try {
      return await this.redis.eval(timed, keyCount, ...values, ...time);
    } finally {
      this.#underWay -= 1;
    }
  }
}
