/// <reference path="./undici-parts.d.ts" />
import type { Socket } from "node:net";
import buildConnector, { type ConnectCallback } from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";
import type { Dispatcher } from "../../options/options.ts";
import { afterReading, type Clock } from "../../runtime/clock.ts";
import type { RawHeaders } from "../../runtime/headers.ts";
import { isErrorLike, sanitizedError } from "../sanitized-error.ts";
import { type HttpRequest, headersOf, type Transport } from "../types.ts";
import { Attempt, type AttemptLimits, type Carrier, type TransportLimits } from "./attempt.ts";
import type { Open, ProxySettings, ProxyTunnel } from "./proxy.ts";

/** Where the requests to an origin go through a proxy: the way there; undefined where they do not. */
export type Tunnelling = (origin: string, open: Open) => ProxyTunnel | undefined;

/** One of undici's clients, which has one socket at a time and makes another when that one breaks. */
interface PooledClient {
  readonly client: InstanceType<typeof Client>;
  /** The last request that it was given. */
  carried: Carried;
  /** How many requests its socket was given, and when the last one. */
  requests: number;
  usedAt: number;
}

const isFree = ({ carried }: PooledClient): boolean => carried.hasEnded;

/** A request under way, with undici's callbacks. */
interface Carried {
  readonly hasEnded: boolean;
  /** The header with the key, with its line break; empty without a key. */
  readonly keyLine: string;
  lose(error: unknown): void;
}

/** The attempt's own timer covers all of a request; undici's would only fire beside it. */
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };

// A socket is kept for as long as it is used: new ones once a minute follow the origin's DNS.
const lifeMs = 60_000;

// A socket that has answered more than once, and lately, is one that the service keeps.
const latelyMs = 1_000;

// TCP knocks less and less often: what began to connect while the network was down would be late once it is back.
const openingMs = 10_000;

const fault = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const isClosed = (): Error => fault("ERR_CLIENT_CLOSED", "the client was closed");
const isLate = (): Error => fault("ETIMEDOUT", `no connection within ${openingMs} ms`);

/**
 * Adds the key to each request on its way into the socket. undici publishes its requests, headers and sockets on
 * its diagnostics channels: what it does not know it cannot show.
 */
const addKeys = (socket: Socket, line: PooledClient): void => {
  const write = socket.write.bind(socket);
  // undici writes one string a request: its head, which ends in an empty line. A body goes out as bytes.
  const withKey = (data: unknown): unknown =>
    typeof data === "string" ? `${data.slice(0, -2)}${line.carried.keyLine}\r\n` : data;
  socket.write = (data: string | Uint8Array, ...rest: unknown[]): boolean =>
    // The overloads of `write` cannot be told apart here; what came in is what goes on.
    Reflect.apply(write, socket, [withKey(data), ...rest]);
};

/**
 * The sockets to one origin: as many as there were requests under way at once, and, for as long as those that are
 * replaced still carry something, as many again.
 */
class ConnectionPool {
  readonly #origin: string;
  readonly #clock: Clock;
  // One for all, so that a new socket can resume the TLS session of another.
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

  /** What requests lead to, as messages name it. */
  get place(): string {
    const { host } = new URL(this.#origin);
    return this.#tunnel === undefined ? host : `${host} through the proxy ${this.#tunnel.proxy}`;
  }

  /**
   * Sends a request, by undici's own options. One that is never repeated must not be lost on a socket that the service has
   * closed, unannounced: with its first answer, or while this process was busy.
   */
  dispatch(options: object, carried: Carried, isNeverRepeated: boolean): void {
    const now = this.#clock.now();
    const line = this.#lineFor(carried, now);
    const isProven = line.requests !== 1 && now - line.usedAt <= latelyMs;
    const leave = (): void => {
      if (carried.hasEnded) return;
      line.requests += 1;
      line.usedAt = now;
      try {
        line.client.dispatch(options, carried);
      } catch (error) {
        carried.lose(error);
      }
    };
    if (isProven || !isNeverRepeated) leave();
    else afterReading(leave);
  }

  /** Breaks every socket off, and opens none any more; resolves when none is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      [...this.#open].map(
        (socket) => new Promise((resolve) => socket.once("close", resolve).destroy(isClosed())),
      ),
    );
  }

  #lineFor(carried: Carried, now: number): PooledClient {
    if (now - this.#since > lifeMs) {
      // Each ends what it carries first.
      for (const { client } of this.#lines) void client.close();
      this.#lines = [];
      this.#since = now;
    }
    const free = this.#lines.find(isFree);
    if (free !== undefined) {
      free.carried = carried;
      return free;
    }
    const connect = (to: object, callback: ConnectCallback): void => this.#connect(line, to, callback);
    const client = new Client(this.#origin, { connect, pipelining: 1, ...noTimeouts });
    const line: PooledClient = { client, carried, requests: 0, usedAt: now };
    this.#lines.push(line);
    return line;
  }

  #connect(line: PooledClient, to: object, callback: ConnectCallback): void {
    if (this.#isClosed) return callback(isClosed());
    const done: ConnectCallback = (error, socket) => {
      cancel();
      line.requests = 1;
      if (socket) addKeys(socket, line);
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

/** Loads what a proxy takes. */
export const loadTunnelling = async (settings: ProxySettings): Promise<Tunnelling> => {
  const { proxyTunnel } = await import("./proxy.ts");
  return (origin, open) => proxyTunnel(origin, settings, open);
};

interface Controller {
  abort(reason: Error): void;
}

/** undici's callbacks for one request, onto one attempt. */
class UndiciHandler implements Carrier, Carried {
  readonly #attempt: Attempt;
  readonly #isOwn: boolean;
  readonly #authorization: string | undefined;
  #controller: Controller | undefined;

  constructor(attempt: Attempt, isOwn: boolean, authorization: string | undefined) {
    this.#attempt = attempt;
    this.#isOwn = isOwn;
    this.#authorization = authorization;
    attempt.carrier = this;
  }

  drop(reason: Error): void {
    this.#controller?.abort(reason);
  }

  get hasEnded(): boolean {
    return this.#attempt.hasEnded;
  }

  get keyLine(): string {
    return this.#authorization === undefined ? "" : `authorization: ${this.#authorization}\r\n`;
  }

  // Called on a connected socket, before the first byte: until now nothing has left.
  onRequestStart(controller: Controller): void {
    if (this.#attempt.isHeld) this.#attempt.giveBack();
    if (this.hasEnded) return this.#leaveSocket(controller);
    this.#controller = controller;
    this.#attempt.wasSent = true;
  }

  /** For the next one: undici's own clients take an error here for a request that is not to be sent. */
  #leaveSocket(controller: Controller): void {
    const reason = new Error("ended while waiting for a socket");
    if (this.#isOwn) throw reason;
    controller.abort(reason);
  }

  onRequestUpgrade(): void {
    this.#attempt.fail("broken", "the service switched protocols");
  }

  onResponseStart(_controller: Controller, status: number, headers: RawHeaders): void {
    if (status >= 200) this.#attempt.head(status, headers);
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.#attempt.chunk(chunk);
  }

  onResponseEnd(): void {
    this.#attempt.end();
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.lose(error);
  }

  lose(error: unknown): void {
    const cause = isErrorLike(error) ? error : new Error(String(error));
    // A dispatcher of the caller's may hang the request on its errors, with the key in its headers.
    this.#attempt.lost(this.#isOwn ? cause : sanitizedError(cause));
  }
}

/** Sends over undici's dispatch: a quarter of the cost of its fetch, and it adds no header of its own. */
export const undiciTransport = ({
  origin,
  dispatcher,
  tunnelling,
  ...limits
}: TransportSettings): Transport => {
  const own = dispatcher === undefined ? new ConnectionPool(origin, limits.clock, tunnelling) : undefined;
  const attempts: AttemptLimits = { ...limits, host: own?.place ?? new URL(origin).host };
  const dispatch = (request: HttpRequest, exchange: UndiciHandler): void => {
    const { method, path, headers, body } = request;
    const options = { origin, method, path, headers, body: body ?? null, ...noTimeouts };
    if (own === undefined) dispatcher?.dispatch({ ...options, headers: headersOf(request) }, exchange);
    else own.dispatch(options, exchange, request.replay === "never");
  };
  return {
    send: (request) =>
      new Promise(function sendOverUndici(resolve, reject) {
        const attempt = new Attempt(request, attempts, { resolve, reject });
        if (attempt.hasEnded) return;
        const exchange = new UndiciHandler(attempt, own !== undefined, request.authorization);
        try {
          dispatch(request, exchange);
        } catch (error) {
          exchange.lose(error);
        }
      }),
    close: async () => own?.close(),
  };
};
