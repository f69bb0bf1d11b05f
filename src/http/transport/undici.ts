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
import type { Open, ProxySettings, ProxyTunnel } from "./proxy.ts";

/** Finds the tunnel for an origin; undefined if its requests do not go through the proxy. */
export type Tunnelling = (origin: string, open: Open) => ProxyTunnel | undefined;

/** One of undici's clients. It has one socket at a time, and opens another if that one breaks. */
interface PooledClient {
  client: InstanceType<typeof Client>;
  /** The latest request on this client. */
  carried: Attempt;
  /** When the client sent its latest request; undefined if it has no socket yet. */
  usedAt: number | undefined;
}

/** The attempt's own timer covers the whole request, so undici's timers are off. */
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };

// undici keeps a socket while it is in use. Opening new sockets once a minute follows changes in DNS.
const lifeMs = 60_000;

// Gateways close connections that were idle for a second or more, and all of them when they reload.
const longestIdleMs = 500;

// TCP retries at growing intervals. A connection attempt that started while the network was down would continue to wait
// long after the network is back.
const openingMs = 10_000;

const any = Number.POSITIVE_INFINITY;

const fault = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const isClosed = (): Error => fault("ERR_CLIENT_CLOSED", "the client was closed");
const isLate = (): Error => fault("ETIMEDOUT", `no connection within ${openingMs} ms`);

/**
 * The sockets to one origin: as many as there were requests in flight at once. When the pool replaces its sockets, the
 * old ones stay open until their requests have ended.
 */
class ConnectionPool {
  readonly #origin: string;
  readonly #clock: Clock;
  // All sockets share the connector, so that a new socket can resume the TLS session of another one.
  readonly #connector = buildConnector({ timeout: 0 });
  readonly #open = new Set<Socket>();
  #lines: PooledClient[] = [];
  #since = 0;
  #isClosed = false;
  readonly #tunnel: ProxyTunnel | undefined;

  constructor(origin: string, clock: Clock, tunnelling: Tunnelling | undefined) {
    this.#origin = origin;
    this.#clock = clock;
    this.#tunnel = tunnelling?.(origin, (...to) => this.#openSocket(...to));
  }

  /** The host that error messages name. */
  get host(): string {
    const { host } = new URL(this.#origin);
    return this.#tunnel === undefined ? host : `${host} through the proxy ${this.#tunnel.proxy}`;
  }

  /**
   * Sends a request with undici's own options. A request is lost if its socket closes meanwhile. So a request that is
   * never repeated gets a new socket if the free one was idle. An email always gets a new socket: a key may send only
   * 300 a day, and a handshake is better than an email with an unknown outcome.
   */
  dispatch(options: object, carried: Attempt, { plan, operation }: Sending): void {
    const now = this.#clock.now();
    const mostIdleMs = plan.replay !== "never" ? any : operation.isEmail ? 0 : longestIdleMs;
    const line = this.#lineFor(carried, now, mostIdleMs);
    const isNew = line.usedAt === undefined;
    const leave = (): void => {
      if (carried.hasEnded) return;
      line.usedAt = now;
      try {
        line.client.dispatch(options, carried);
      } catch (error) {
        carried.lost(error);
      }
    };
    // The connection may have ended together with its last response, without undici having read the end yet.
    if (isNew || mostIdleMs === any) leave();
    else afterReading(leave);
  }

  /** Destroys every socket and opens no more. Resolves when all sockets are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#open].map(
        (socket) => new Promise((resolve) => socket.once("close", resolve).destroy(isClosed())),
      ),
    );
  }

  #lineFor(carried: Attempt, now: number, mostIdleMs: number): PooledClient {
    if (now - this.#since > lifeMs) {
      // Each client finishes its request first.
      for (const { client } of this.#lines) void client.close();
      this.#lines = [];
      this.#since = now;
    }
    for (const free of this.#lines) {
      if (!free.carried.hasEnded) continue;
      if (free.usedAt !== undefined && now - free.usedAt >= mostIdleMs) {
        void free.client.close();
        free.client = this.#newClient();
        free.usedAt = undefined;
      }
      free.carried = carried;
      return free;
    }
    const line: PooledClient = { client: this.#newClient(), carried, usedAt: undefined };
    this.#lines.push(line);
    return line;
  }

  #newClient(): InstanceType<typeof Client> {
    const connect = (to: object, callback: ConnectCallback): void => this.#connect(to, callback);
    return new Client(this.#origin, { connect, pipelining: 1, ...noTimeouts });
  }

  #connect(to: object, callback: ConnectCallback): void {
    if (this.#isClosed) return callback(isClosed());
    const done: ConnectCallback = (error, socket) => {
      cancel();
      callback(error, socket);
    };
    const late = new AbortController();
    const cancel = this.#clock.after(openingMs, () => late.abort(isLate()), { idle: true });
    if (this.#tunnel !== undefined) return this.#tunnel.connect({ ...to, signal: late.signal }, done);
    const socket = this.#openSocket(to, done);
    late.signal.addEventListener("abort", () => socket.destroy(isLate()));
  }

  #openSocket(to: object, callback: ConnectCallback): Socket {
    const socket = this.#connector(to, callback);
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    return socket;
  }
}

export interface TransportSettings extends TransportLimits {
  readonly origin: string;
  readonly dispatcher: Dispatcher | undefined;
  readonly tunnelling?: Tunnelling | undefined;
}

/** Recognizes how undici 5 and 6 refuse a handler, if `new Client()` could not recognize that version. */
const isOld = (error: unknown): boolean =>
  error instanceof Error && /^invalid on\w+ method$|onConnect is not a function/.test(error.message);

/** Loads the code for proxies. */
export const loadTunnelling = async (settings: ProxySettings): Promise<Tunnelling> => {
  const { proxyTunnel } = await import("./proxy.ts");
  return (origin, open) => proxyTunnel(origin, settings, open);
};

/** Sends with undici's `dispatch`, which costs a quarter of its fetch and adds no headers. */
export const undiciTransport = ({
  origin,
  dispatcher,
  tunnelling,
  ...limits
}: TransportSettings): Transport => {
  if (!("WebAssembly" in globalThis))
    throw new ConfigurationError(
      "the default transport needs WebAssembly, which this process lacks (node --jitless): pass a fetch that does not need it",
    );
  const own = dispatcher === undefined ? new ConnectionPool(origin, limits.clock, tunnelling) : undefined;
  const timers = new SharedTimers(limits.clock);
  const attempts: AttemptLimits = {
    ...limits,
    host: own?.host ?? new URL(origin).host,
    isOwn: own !== undefined,
    // A caller's dispatcher may not keep the process alive, so its attempts get timers that do.
    clock: own === undefined ? limits.clock : timers,
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
          if (own === undefined && isOld(error))
            attempt.refuse(new ConfigurationError(`dispatcher: ${oldDispatcher}`));
          else attempt.lost(error);
        }
      }),
    close: async () => {
      timers.close();
      await own?.close();
    },
  };
};
