/// <reference path="./undici-parts.d.ts" />
import type { Socket } from "node:net";
import buildConnector, { type ConnectCallback } from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";
import { ConfigurationError } from "../../errors.ts";
import { type Dispatcher, oldDispatcher } from "../../options/fetch.ts";
import { afterReading, type Clock, SharedTimers } from "../../runtime/clock.ts";
import { headersOf } from "../message.ts";
import type { Sending, Transport } from "../types.ts";
import { Attempt, type AttemptLimits, type TransportLimits } from "./attempt.ts";
import type { Open, Tunnel } from "./proxy.ts";

/** One of undici's clients. It has one socket at a time, and opens a new one if that breaks. */
interface PooledClient {
  client: InstanceType<typeof Client>;
  /** The latest attempt on this client. The client is free once this attempt has ended. */
  attempt: Attempt;
  /** When the client sent its latest request; undefined if it has no socket yet. */
  usedAt: number | undefined;
}

/** The attempt's own timer covers the whole request, so undici's timers are off. */
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };

// undici keeps a socket as long as requests use it. Replacing the sockets each minute makes the client notice changes
// in DNS.
const maxAgeMs = 60_000;

// Most gateways close connections that were idle for a second or more. They close all connections when they reload.
const longestIdleMs = 500;

const closedByServer: readonly unknown[] = ["UND_ERR_SOCKET", "ECONNRESET"];

// TCP retries at growing intervals. Without this limit, a connection attempt that started while the network was down
// would wait long after the network is back.
const connectTimeoutMs = 10_000;

const unlimited = Number.POSITIVE_INFINITY;

const fault = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const closedError = (): Error => fault("ERR_CLIENT_CLOSED", "the client was closed");
const connectTimeoutError = (): Error => fault("ETIMEDOUT", `no connection within ${connectTimeoutMs} ms`);

/**
 * The sockets to one origin: as many as there were requests in flight at once. When the pool replaces its sockets, the
 * old ones stay open until their requests have ended.
 */
class ConnectionPool {
  readonly #origin: string;
  readonly #clock: Clock;
  // All sockets share the connector, so that a new socket can resume the TLS session of another one.
  readonly #connector = buildConnector({ timeout: 0 });
  readonly #sockets = new Set<Socket>();
  #clients: PooledClient[] = [];
  /** When the pool last replaced its clients. */
  #replacedAt = 0;
  /**
   * Whether the server has closed a socket soon after a request, without the header `Connection: close`. tinyproxy does
   * that after each response.
   */
  #closesEarly = false;
  #isClosed = false;
  readonly #tunnel: Tunnel | undefined;

  constructor(origin: string, clock: Clock, tunnel: Tunnel | undefined) {
    this.#origin = origin;
    this.#clock = clock;
    this.#tunnel = tunnel;
  }

  /** The host in error messages. */
  get host(): string {
    const { host } = new URL(this.#origin);
    return this.#tunnel === undefined ? host : `${host} through the proxy ${this.#tunnel.proxy}`;
  }

  /**
   * Sends a request with undici's own options.
   *
   * A request is lost if its socket closes while the request is on its way. A request that must not be repeated
   * therefore gets a new socket if the free one was idle, or if the server closes sockets early. An email always gets a
   * new socket. That costs a handshake, but a key may send only 300 emails a day, and an unknown outcome is worse.
   */
  dispatch(options: object, attempt: Attempt, { plan, operation }: Sending): void {
    const now = this.#clock.now();
    const needsNew = operation.isEmail || this.#closesEarly;
    const maxIdleMs = plan.replay !== "never" ? unlimited : needsNew ? 0 : longestIdleMs;
    const pooled = this.#clientFor(attempt, now, maxIdleMs);
    const isNew = pooled.usedAt === undefined;
    const start = (): void => {
      if (attempt.hasEnded) return;
      pooled.usedAt = now;
      try {
        pooled.client.dispatch(options, attempt);
      } catch (error) {
        attempt.lost(error);
      }
    };
    // The service may have closed the socket after its last response, and undici may not have read that yet.
    if (isNew || maxIdleMs === unlimited) start();
    else afterReading(start);
  }

  /** Destroys every socket and opens no more. Resolves when all sockets are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#sockets].map(
        (socket) => new Promise((resolve) => socket.once("close", resolve).destroy(closedError())),
      ),
    );
  }

  #clientFor(attempt: Attempt, now: number, maxIdleMs: number): PooledClient {
    if (now - this.#replacedAt > maxAgeMs) {
      // A client that has a request finishes it before it closes.
      for (const { client } of this.#clients) void client.close();
      this.#clients = [];
      this.#replacedAt = now;
      this.#closesEarly = false;
    }
    for (const pooled of this.#clients) {
      if (!pooled.attempt.hasEnded) continue;
      if (pooled.usedAt !== undefined && now - pooled.usedAt >= maxIdleMs) {
        void pooled.client.close();
        pooled.client = this.#newClient();
        pooled.usedAt = undefined;
      }
      pooled.attempt = attempt;
      return pooled;
    }
    const pooled: PooledClient = { client: this.#newClient(), attempt, usedAt: undefined };
    this.#clients.push(pooled);
    return pooled;
  }

  #newClient(): InstanceType<typeof Client> {
    const connect = (to: object, callback: ConnectCallback): void => this.#connect(to, callback);
    const client = new Client(this.#origin, { connect, pipelining: 1, ...noTimeouts });
    // After a certificate for another host, undici's client counts the failed request as running, and sends no other.
    client.on("connectionError", () => {
      this.#clients = this.#clients.filter((pooled) => pooled.client !== client);
    });
    return client.on("disconnect", (_origin, _targets, { code }) => {
      const { usedAt } = this.#clients.find((pooled) => pooled.client === client) ?? {};
      const isEarly = usedAt !== undefined && this.#clock.now() - usedAt < longestIdleMs;
      if (isEarly && closedByServer.includes(code)) this.#closesEarly = true;
    });
  }

  #connect(to: object, callback: ConnectCallback): void {
    if (this.#isClosed) return callback(closedError());
    const done: ConnectCallback = (error, socket) => {
      cancel();
      callback(error, socket);
    };
    const timeout = new AbortController();
    const { signal } = timeout;
    const cancel = this.#clock.after(connectTimeoutMs, () => timeout.abort(connectTimeoutError()), {
      idle: true,
    });
    const open: Open = (...socketTo) => this.#openSocket(...socketTo);
    if (this.#tunnel !== undefined) return this.#tunnel.connect(to, { open, signal }, done);
    const socket = this.#openSocket(to, done);
    signal.addEventListener("abort", () => socket.destroy(signal.reason));
  }

  #openSocket(to: object, callback: ConnectCallback): Socket {
    const socket = this.#connector(to, callback);
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return socket;
  }
}

export interface TransportSettings extends TransportLimits {
  readonly origin: string;
  readonly dispatcher: Dispatcher | undefined;
  readonly tunnel?: Tunnel | undefined;
}

/**
 * Whether a dispatcher of undici 5 or 6 threw the error, because the handler lacks the methods of those versions. The
 * check of the client's options does not recognize every such dispatcher.
 */
const isOldDispatcherError = (error: unknown): boolean =>
  error instanceof Error && /^invalid on\w+ method$|onConnect is not a function/.test(error.message);

/** Loads the code for proxies. */
export const loadTunnel = async (origin: string, proxy: string): Promise<Tunnel> => {
  const { tunnelTo } = await import("./proxy.ts");
  return tunnelTo(origin, proxy);
};

/** Sends with undici's `dispatch`, which takes a quarter of the time of undici's fetch and adds no headers. */
export const undiciTransport = ({ origin, dispatcher, tunnel, ...limits }: TransportSettings): Transport => {
  if (!("WebAssembly" in globalThis))
    throw new ConfigurationError(
      "the default transport needs WebAssembly, which this process lacks (node --jitless): pass a fetch that does not need it",
    );
  const own = dispatcher === undefined ? new ConnectionPool(origin, limits.clock, tunnel) : undefined;
  const sharedTimers = new SharedTimers(limits.clock);
  const attempts: AttemptLimits = {
    ...limits,
    host: own?.host ?? new URL(origin).host,
    isOwn: own !== undefined,
    // Shared timers don't keep the process alive, but the library's own sockets do. The sockets of a caller's dispatcher
    // may not, so its attempts have the clock's own timers, which do.
    clock: own === undefined ? limits.clock : sharedTimers,
  };
  return {
    send: (sending, request) =>
      new Promise(function sendOverUndici(resolve, reject) {
        const attempt = new Attempt(sending, attempts, { request, resolve, reject });
        if (attempt.hasEnded) return;
        const { method, path, body = null } = request;
        const options = { origin, method, path, headers: headersOf(request), body, ...noTimeouts };
        try {
          if (own === undefined) dispatcher?.dispatch(options, attempt);
          else own.dispatch(options, attempt, sending);
        } catch (error) {
          if (own === undefined && isOldDispatcherError(error))
            attempt.refuse(new ConfigurationError(`dispatcher: ${oldDispatcher}`));
          else attempt.lost(error);
        }
      }),
    close: async () => {
      sharedTimers.close();
      await own?.close();
    },
  };
};
