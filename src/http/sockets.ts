/// <reference path="./undici-parts.d.ts" />
import type { Socket } from "node:net";
import buildConnector from "undici/lib/core/connect.js";
import Pool from "undici/lib/dispatcher/pool.js";
import type { Clock } from "../clock.ts";

type Connect = ReturnType<typeof buildConnector>;

/** The attempt's own timer covers all of a request; undici's would only fire beside it. */
export const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };

// A socket is kept for as long as it is used: new ones once a minute follow the origin's DNS.
const poolLifeMs = 60_000;

// TCP knocks less and less often: what began to connect while the network was down would be late once it is back.
const openingMs = 10_000;

const notMadeError = (): Error =>
  Object.assign(new Error(`no connection within ${openingMs} ms`), { code: "ETIMEDOUT" });

const isClosedError = (): Error => new Error("the client was closed");

/**
 * The sockets to one origin: undici's pools, one after the other, and every socket they open. undici has a life for
 * sockets of its own, but a request that finds all of a pool's sockets past it waits for a next request that may
 * never come (7.30.2).
 */
export class Sockets {
  readonly #origin: string;
  readonly #connections: number;
  readonly #clock: Clock;
  // One for all pools, so that a new socket resumes the TLS session of an old one.
  readonly #connector = buildConnector({ timeout: 0 });
  readonly #open = new Set<Socket>();
  #pool: InstanceType<typeof Pool> | undefined;
  #poolSince = 0;
  #isClosed = false;

  /** @param connections - sockets of one pool at most. */
  constructor(origin: string, connections: number, clock: Clock) {
    this.#origin = origin;
    this.#connections = connections;
    this.#clock = clock;
  }

  /** Carries a request, with undici's own options and callbacks. */
  dispatch(options: object, handler: object): boolean {
    return this.#current().dispatch(options, handler);
  }

  /** Breaks every socket off, and opens none any more; resolves when none is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    // Not by the pools: one forgets what it could not connect, which may try again and carry a request all the same.
    await Promise.all(
      [...this.#open].map(
        (socket) => new Promise((resolve) => socket.once("close", resolve).destroy(isClosedError())),
      ),
    );
  }

  #current(): InstanceType<typeof Pool> {
    const now = this.#clock.now();
    if (this.#pool === undefined || now - this.#poolSince > poolLifeMs) {
      // It ends what it carries first.
      void this.#pool?.close();
      this.#poolSince = now;
      this.#pool = new Pool(this.#origin, {
        connections: this.#connections,
        connect: this.#connect,
        pipelining: 1,
        ...noTimeouts,
      });
    }
    return this.#pool;
  }

  readonly #connect = (...[options, callback]: Parameters<Connect>): void => {
    if (this.#isClosed) return callback(isClosedError());
    const socket = this.#connector(options, (error, made) => {
      cancel();
      callback(error, made);
    });
    const cancel = this.#clock.after(openingMs, () => socket.destroy(notMadeError()), { idle: true });
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
  };
}
