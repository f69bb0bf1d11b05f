import { Redis } from "ioredis";
import type { IoredisCommands } from "../../src/redis/index.ts";
import { type FakeClock, turn } from "./fake-clock.ts";

/**
 * A real redis-server on the test's clock. Scripts read that clock, and a command takes only the given latency on it.
 */
export class SimulatedRedis {
  readonly redis: Redis;
  readonly #clock: FakeClock;
  /** For each script, the hash of its variant, which reads the clock from its last two arguments. */
  readonly #hashes = new Map<string, Promise<string>>();
  /** The commands in flight. Each of them settles, with or without a reply. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** How far the server's clock is ahead of the test's clock. */
  aheadMs = 0;

  constructor(port: number, clock: FakeClock) {
    this.redis = new Redis(port, "127.0.0.1");
    this.#clock = clock;
  }

  /** The commands of one process. Each takes `latencyMs` in each direction. */
  commands(latencyMs = 0): IoredisCommands {
    return {
      // Reject every hash, so that each script arrives as text and its clock can be replaced.
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

  /** Moves the clock. Before each step, every command in flight gets its reply. */
  async advance(ms: number): Promise<void> {
    for (let left = ms; left >= 0; ) {
      await this.#quiet();
      const step = Math.min(left, this.#clock.nextInMs ?? left);
      if (step === left && (this.#clock.nextInMs ?? left + 1) > left) {
        await this.#clock.advance(left);
        break;
      }
      await this.#clock.advance(step);
      left -= step;
    }
    await this.#quiet();
  }

  /** Waits until no command is in flight, including commands that a reply has started. */
  async #quiet(): Promise<void> {
    for (await turn(); this.#underWay.size > 0; await turn()) await Promise.all(this.#underWay);
  }

  #timed(script: string): Promise<string> {
    const cached = this.#hashes.get(script);
    if (cached !== undefined) return cached;
    const text = script.replaceAll("redis.call('TIME')", "{ ARGV[#ARGV - 1], ARGV[#ARGV] }");
    // `SCRIPT LOAD` returns the hash.
    const hash = this.redis.script("LOAD", text) as Promise<string>;
    this.#hashes.set(script, hash);
    return hash;
  }

  async #run(script: string, keyCount: number, values: readonly string[]): Promise<unknown> {
    const micros = Math.round((this.#clock.wallTime() + this.aheadMs) * 1_000);
    const time = [String(Math.floor(micros / 1e6)), String(micros % 1e6)];
    const answer = this.#timed(script).then((hash) => this.redis.evalsha(hash, keyCount, ...values, ...time));
    const settled = answer.catch(() => undefined).finally(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
    return answer;
  }
}
