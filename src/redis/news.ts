/** What is needed to hear what other processes publish; a second connection of ioredis has it. */
export interface RedisSubscriber {
  on(event: "message", listener: (channel: string, message: string) => void): unknown;
  on(event: "ready", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  subscribe(channel: string): Promise<unknown>;
  disconnect(): void;
}

/** A client that can open a second connection like itself, and tells when it is ended. */
export interface RedisPublisher {
  duplicate?(): RedisSubscriber;
  once?(event: "end", listener: () => void): unknown;
  off?(event: "end", listener: () => void): unknown;
}

type Heard = (message: string) => void;

/**
 * Hears at once what would otherwise come with the next heartbeat, over a connection of its own.
 *
 * Nothing depends on it: a message that is lost, or a client that can open no second connection, costs the time to
 * the next beat.
 */
export class News {
  readonly #redis: RedisPublisher;
  readonly #listeners = new Map<string, Set<Heard>>();
  #connection: RedisSubscriber | undefined;

  constructor(redis: RedisPublisher) {
    this.#redis = redis;
  }

  /** Calls back with every message; listening twice is listening once. */
  listen(channel: string, heard: Heard): void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    if (listeners.has(heard)) return;
    this.#listeners.set(channel, listeners.add(heard));
    if (this.#connection === undefined) this.#open();
    else if (listeners.size === 1) this.#subscribe(channel);
  }

  /** With the last listener the connection goes. */
  leave(channel: string, heard: Heard): void {
    const listeners = this.#listeners.get(channel);
    listeners?.delete(heard);
    if (listeners?.size === 0) this.#listeners.delete(channel);
    if (this.#listeners.size === 0) this.#close();
  }

  #open(): void {
    const connection = this.#redis.duplicate?.();
    if (connection === undefined) return;
    this.#connection = connection;
    // What goes wrong here goes wrong on the caller's own connection too, and is told there.
    connection.on("error", () => undefined);
    connection.on("message", (channel, message) => {
      for (const heard of this.#listeners.get(channel) ?? []) heard(message);
    });
    connection.on("ready", () => this.#subscribeAll());
    this.#subscribeAll();
    // A process that has ended its own connection must not be kept alive by this one.
    this.#redis.once?.("end", this.#close);
  }

  readonly #close = (): void => {
    this.#redis.off?.("end", this.#close);
    this.#connection?.disconnect();
    this.#connection = undefined;
  };

  #subscribeAll(): void {
    for (const channel of this.#listeners.keys()) this.#subscribe(channel);
  }

  #subscribe(channel: string): void {
    // Refused while there is no connection: `ready` brings it again.
    void this.#connection?.subscribe(channel).catch(() => undefined);
  }
}
