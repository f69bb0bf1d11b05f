/** What is needed to hear what other processes publish; a second connection of ioredis has it. */
export interface RedisSubscriber {
  /** Calls back with each message of a channel it is subscribed to. */
  on(event: "message", listener: (channel: string, message: string) => void): unknown;
  /** Calls back when it is connected, again too. */
  on(event: "ready", listener: () => void): unknown;
  /** Calls back when it fails. */
  on(event: "error", listener: (error: Error) => void): unknown;
  /** Begins to hear a channel. */
  subscribe(channel: string): Promise<unknown>;
  /** Ends the connection at once. */
  disconnect(): void;
}

/** A client that can open a second connection like itself, and tells when it is ended. */
export interface RedisPublisher {
  /** Opens a second connection like this one; without it, news comes with the next heartbeat. */
  duplicate?(): RedisSubscriber;
  /** Tells when the connection is ended. */
  once?(event: "end", listener: () => void): unknown;
  /** Takes a listener back. */
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
