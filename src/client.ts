import { type Call, createCall } from "./call.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Connection, connect } from "./connect.ts";
import type { BudgetState, Limits } from "./limits.ts";
import { operations } from "./operations/index.ts";
import { type ClientOptions, type Settings, settingsFrom } from "./options.ts";
import { Contacts } from "./resources/contacts.ts";
import { Events } from "./resources/events.ts";

/** What a test replaces to hold time and chance in its hands. */
export interface Runtime {
  readonly clock: Clock;
  /** 0 ≤ random() < 1. */
  readonly random: () => number;
}

const operationIds = Object.values(operations).flatMap((resource) =>
  Object.values(resource).map(({ id }) => id),
);

/**
 * The service's client.
 *
 * Making one opens no socket and starts no timer; both come with the first call. Clients with the same origin,
 * key and limits share their budgets.
 *
 * @throws ConfigurationError naming every fault of the options at once.
 */
export class Client {
  /** People. */
  readonly contacts: Contacts;
  /** What people did. */
  readonly events: Events;
  readonly #settings: Settings;
  readonly #connection: Connection;

  constructor(options?: ClientOptions);
  /** @internal */
  constructor(options?: ClientOptions, runtime?: Partial<Runtime>);
  constructor(options: ClientOptions = {}, runtime: Partial<Runtime> = {}) {
    this.#settings = settingsFrom(options, { env: process.env, operations: operationIds });
    const clock = runtime.clock ?? systemClock;
    this.#connection = connect(this.#settings, { clock, random: runtime.random ?? Math.random });
    const call: Call = createCall(this.#connection.send, this.#settings, clock);
    this.contacts = new Contacts(call);
    const { limits } = this.#settings;
    this.events = new Events(call, { clock, eventsAtOnce: limits === false ? undefined : limits.events.max });
  }

  /** How each limit stands now, keyed by its name. `left` is 0 when the next request would have to wait. */
  budgets(): Record<keyof Limits, BudgetState> {
    return this.#connection.traffic.state();
  }

  /** Frees the sockets. Calls under way fail with a ConnectionError; a later call opens new ones. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
