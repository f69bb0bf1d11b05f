import { type IoredisCommands, isNodeRedis, type NodeRedisCommands, type RedisCommands } from "./commands.ts";

type Heard = (message: string) => void;

/** A connection that hears what is published. */
interface Subscriber {
  subscribe(channel: string): void;
  end(): void;
}

type Tell = (channel: string, message: string) => void;

// A fault here is one of the caller's own connection too, which reports it.
const ignore = (): void => undefined;

const ofIoredis = (redis: IoredisCommands, tell: Tell): Subscriber | undefined => {
  const connection = redis.duplicate?.();
  if (connection === undefined) return undefined;
  const channels = new Set<string>();
  // Refused while there is no connection: `ready` brings it again.
  const subscribe = (channel: string): void => void connection.subscribe(channel).catch(ignore);
  connection.on("error", ignore);
  connection.on("message", tell);
  connection.on("ready", () => channels.forEach(subscribe));
  return {
    subscribe: (channel) => subscribe(channels.add(channel) && channel),
    end: () => connection.disconnect(),
  };
};

const ofNodeRedis = (redis: NodeRedisCommands, tell: Tell): Subscriber => {
  const connection = redis.duplicate();
  connection.on("error", ignore);
  const connected = connection.connect();
  connected.catch(ignore);
  return {
    subscribe: (channel) =>
      void connected
        .then(() => connection.subscribe(channel, (message) => tell(channel, message)))
        .catch(ignore),
    // It may be on its way to be connected, or have ended by itself.
    end: () => void connected.then(() => connection.destroy()).catch(ignore),
  };
};

/**
 * Hears at once what would otherwise come with the next heartbeat, over a connection of its own.
 *
 * Nothing depends on it: a message that is lost, or a client that can open no second connection, costs the time to
 * the next beat.
 */
export class News {
  readonly #redis: RedisCommands;
  readonly #listeners = new Map<string, Set<Heard>>();
  #connection: Subscriber | undefined;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  /** Calls back with every message; listening twice is listening once. */
  listen(channel: string, heard: Heard): void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    if (listeners.has(heard)) return;
    this.#listeners.set(channel, listeners.add(heard));
    this.#connection ??= this.#open();
    if (listeners.size === 1) this.#connection?.subscribe(channel);
  }

  /** With the last listener the connection goes. */
  leave(channel: string, heard: Heard): void {
    const listeners = this.#listeners.get(channel);
    listeners?.delete(heard);
    if (listeners?.size === 0) this.#listeners.delete(channel);
    if (this.#listeners.size === 0) this.#close();
  }

  #open(): Subscriber | undefined {
    const redis = this.#redis;
    const tell: Tell = (channel, message) => {
      for (const heard of this.#listeners.get(channel) ?? []) heard(message);
    };
    // A process that has ended its own connection must not be kept alive by this one.
    redis.once?.("end", this.#close);
    return isNodeRedis(redis) ? ofNodeRedis(redis, tell) : ofIoredis(redis, tell);
  }

  readonly #close = (): void => {
    this.#redis.off?.("end", this.#close);
    this.#connection?.end();
    this.#connection = undefined;
  };
}
