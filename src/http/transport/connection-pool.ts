/// <reference path="./undici-parts.d.ts" />
import type { Socket } from "node:net";
import buildConnector from "undici/lib/core/connect.js";
import Client from "undici/lib/dispatcher/client.js";
import type { Clock } from "../../runtime/clock.ts";

type Connect = ReturnType<typeof buildConnector>;

/** One of undici's clients, which has one socket at a time and makes another when that one breaks. */
interface PooledClient {
  readonly client: InstanceType<typeof Client>;
  /** The last request that it was given. */
  carried: Carried;
}

/** A request under way, with undici's callbacks. */
export interface Carried {
  readonly hasEnded: boolean;
  /** The header with the key, with its line break; empty without a key. */
  readonly keyLine: string;
}

/** The attempt's own timer covers all of a request; undici's would only fire beside it. */
export const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };

// A socket is kept for as long as it is used: new ones once a minute follow the origin's DNS.
const lifeMs = 60_000;

// TCP knocks less and less often: what began to connect while the network was down would be late once it is back.
const openingMs = 10_000;

const fault = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const isClosed = (): Error => fault("ERR_CLIENT_CLOSED", "the client was closed");
const isLate = (): Error => fault("ETIMEDOUT", `no connection within ${openingMs} ms`);

/**
 * Adds the key to each request on its way into the socket. undici hands its requests, headers and sockets to everybody
 * who listens on its diagnostics channels: what it does not know it cannot show.
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
export class ConnectionPool {
  readonly #origin: string;
  readonly #clock: Clock;
  // One for all, so that a new socket can resume the TLS session of another.
  readonly #connector = buildConnector({ timeout: 0 });
  readonly #open = new Set<Socket>();
  #lines: PooledClient[] = [];
  #since = 0;
  #isClosed = false;

  constructor(origin: string, clock: Clock) {
    this.#origin = origin;
    this.#clock = clock;
  }

  /** Sends a request, by undici's own options. */
  dispatch(options: object, carried: Carried): void {
    this.#lineFor(carried).client.dispatch(options, carried);
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

  #lineFor(carried: Carried): PooledClient {
    const now = this.#clock.now();
    if (now - this.#since > lifeMs) {
      // Each ends what it carries first.
      for (const { client } of this.#lines) void client.close();
      this.#lines = [];
      this.#since = now;
    }
    const free = this.#lines.find((line) => line.carried.hasEnded);
    if (free !== undefined) {
      free.carried = carried;
      return free;
    }
    const connect = (...args: Parameters<Connect>): void => this.#connect(line, ...args);
    const client = new Client(this.#origin, { connect, pipelining: 1, ...noTimeouts });
    const line: PooledClient = { client, carried };
    this.#lines.push(line);
    return line;
  }

  #connect(line: PooledClient, ...[options, callback]: Parameters<Connect>): void {
    if (this.#isClosed) return callback(isClosed());
    const socket = this.#connector(options, (error, made) => {
      cancel();
      callback(error, made);
    });
    const cancel = this.#clock.after(openingMs, () => socket.destroy(isLate()), { idle: true });
    addKeys(socket, line);
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  }
}
