import { type IoredisCommands, isNodeRedis, type NodeRedisCommands, type RedisCommands } from "./commands.ts";

type Heard = (message: string) => void;

/** A connection that receives published messages. */
interface Subscriber {
  subscribe(channel: string): void;
  end(): void;
}

type Tell = (channel: string, message: string) => void;

// The caller's own connection reports the same faults.
const ignore = (): void => undefined;

const ofIoredis = (redis: IoredisCommands, tell: Tell): Subscriber | undefined => {
  const connection = redis.duplicate?.();
  if (connection === undefined) return undefined;
  const channels = new Set<string>();
  // Fails while disconnected; `ready` subscribes again.
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
    // It may still be connecting, or be closed already.
    end: () => void connected.then(() => connection.destroy()).catch(ignore),
  };
};

/**
 * Receives messages of other processes over a second connection, sooner than the next heartbeat would bring the news.
 *
 * Nothing depends on it: if a message is lost, or the client cannot open a second connection, the news arrives with the
 * next heartbeat.
 */
export class News {
  readonly #redis: RedisCommands;
  readonly #listeners = new Map<string, Set<Heard>>();
  #connection: Subscriber | undefined;

  constructor(redis: RedisCommands) {
    this.#redis = redis;
  }

  /** Calls back with every message of a channel. A second call with the same function has no effect. */
  listen(channel: string, heard: Heard): void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    if (listeners.has(heard)) return;
    this.#listeners.set(channel, listeners.add(heard));
    this.#connection ??= this.#open();
    if (listeners.size === 1) this.#connection?.subscribe(channel);
  }

  /** Removes a listener. The last one closes the connection. */
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
    // This connection must not keep the process alive once the caller has ended theirs.
    redis.once?.("end", this.#close);
    return isNodeRedis(redis) ? ofNodeRedis(redis, tell) : ofIoredis(redis, tell);
  }

  readonly #close = (): void => {
    this.#redis.off?.("end", this.#close);
    this.#connection?.end();
    this.#connection = undefined;
  };
}
