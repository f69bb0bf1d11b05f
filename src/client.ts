import { type ApiPromise, answer } from "./call/api-promise.ts";
import { type Call, createCall } from "./call/executor.ts";
import { type RawRequest, rawOperation } from "./call/raw-request.ts";
import { type Connection, connect } from "./connection.ts";
import { ConfigurationError } from "./errors.ts";
import { ClientNode, type CloseReport } from "./lifecycle.ts";
import type { BudgetState, Limits } from "./options/limits.ts";
import { type CallOptions, type ClientOptions, type Settings, settingsFrom } from "./options/options.ts";
import { optionsFromEnv, snapshot } from "./options/snapshot.ts";
import { Companies } from "./resources/companies.ts";
import { Contacts } from "./resources/contacts.ts";
import { Emails } from "./resources/emails.ts";
import { Events } from "./resources/events.ts";
import { Lists } from "./resources/lists.ts";
import { type Clock, systemClock } from "./runtime/clock.ts";
import { operations } from "./service/operations.ts";
import type { OpenFields } from "./workspace/contact-types.ts";
import type { OpenEvents } from "./workspace/event-types.ts";

/** How a client is closed. */
export interface CloseOptions {
  /** How long what is on the wire, and what recorders hold, may take, in milliseconds. Default: no bound. */
  readonly graceMs?: number;
}

/** What a test replaces to hold time and chance in its hands. */
export interface Runtime {
  readonly clock: Clock;
  /** 0 ≤ random() < 1. */
  readonly random: () => number;
  /** The client that this one is made from. */
  readonly parent: {
    readonly connection: Connection;
    readonly node: ClientNode;
    readonly options: ClientOptions;
  };
}

const operationPaths = Object.fromEntries(
  Object.values(operations).flatMap((resource) => Object.values(resource).map(({ id, path }) => [id, path])),
);

/**
 * The service's client.
 *
 * Making one opens no socket and starts no timer; both come with the first call. Clients with the same base URL,
 * key, limits and `fetch` share their budgets; one whose key is a function has its own. The options `customFields`
 * and `events` decide the types of `contacts` and `events`; a function for any client is
 * `<F extends object, E extends object>(client: Client<F, E>) => …`.
 *
 * Beside the errors that each method names, every method may reject with a ValidationError (nothing was sent), an
 * AuthenticationError (401), PermissionDeniedError (403), RateLimitError (429), InternalServerError (500),
 * BadGatewayError (502), ServiceUnavailableError (503), ConnectionError, TimeoutError or ResponseValidationError,
 * and with its signal's reason. `outcome` says whether the call may have had its effect.
 *
 * @throws ConfigurationError naming every fault of the options at once.
 */
export class Client<CustomFields extends object = OpenFields, EventTypes extends object = OpenEvents> {
  /** People. */
  readonly contacts: Contacts<CustomFields>;
  /** Companies, with their people. */
  readonly companies: Companies;
  /** Named groups of people. */
  readonly lists: Lists;
  /** What people did. */
  readonly events: Events<EventTypes>;
  /** One-to-one email, now or later. */
  readonly emails: Emails;
  readonly #options: ClientOptions;
  readonly #runtime: Partial<Runtime>;
  readonly #call: Call;
  readonly #settings: Settings;
  readonly #connection: Connection;
  readonly #node: ClientNode;

  /** Options that are left out have their defaults. @throws ConfigurationError naming every fault at once. */
  constructor(options?: ClientOptions<CustomFields, EventTypes>);
  /** @internal */
  constructor(options?: ClientOptions<CustomFields, EventTypes>, runtime?: Partial<Runtime>);
  constructor(options: ClientOptions<CustomFields, EventTypes> = {}, runtime: Partial<Runtime> = {}) {
    // Not kept with the runtime: a client would keep every one alive from which it was made.
    const { parent, ...own } = runtime;
    this.#runtime = own;
    this.#options = snapshot(options, parent?.options ?? optionsFromEnv(process.env));
    this.#settings = settingsFrom(this.#options, operationPaths);
    const clock = runtime.clock ?? systemClock;
    this.#connection = connect(
      this.#settings,
      { clock, random: runtime.random ?? Math.random },
      parent?.connection,
    );
    this.#node = new ClientNode(this.#connection.ends, parent?.node);
    const call: Call = createCall(this.#connection, clock);
    this.#call = call;
    this.contacts = new Contacts(call, clock);
    this.companies = new Companies(call);
    this.lists = new Lists(call, clock);
    const { limits, interactiveReserve, ledger, totalTimeoutMs, emailGuards: guards } = this.#settings;
    const { lifetime, slots } = this.#connection;
    this.emails = new Emails(call, { clock, ledger, totalTimeoutMs, guards, lifetime, slots });
    this.events = new Events(call, {
      clock,
      maxRetries: this.#settings.maxRetries,
      eventsAtOnce: limits === false ? undefined : limits.events.max,
      largestBatch: () => this.#connection.limiter.budgets.events.largestBatch(interactiveReserve),
      recorders: this.#node.recorders,
      serviceNow: () => this.#connection.serviceTime.now(),
    });
  }

  /**
   * A client with some options changed; undefined, and what is left out, stays as this one has it.
   *
   * It shares the ledger, and the budgets unless its key, the origin of its base URL or its limits are others; and the
   * sockets unless its `fetch`, `dispatcher`, `concurrency` or `maxResponseBytes` is another one. It is closed with the
   * client it was made from; closed alone, it ends only what it does not share.
   *
   * @throws ConfigurationError naming every fault of the options at once.
   */
  withOptions<Fields extends object = CustomFields, Types extends object = EventTypes>(
    changes: ClientOptions<Fields, Types>,
  ): Client<Fields, Types> {
    // One that was not given is made by the client, for its siblings too.
    const options = { ...this.#options, ledger: this.#settings.ledger };
    // Null stands for no changes, as everywhere.
    return new Client<Fields, Types>(changes ?? {}, {
      ...this.#runtime,
      parent: { connection: this.#connection, node: this.#node, options },
    });
  }

  /**
   * Sends a request to an endpoint that has no method here, through the same stages: budgets, retries, deadlines.
   *
   * @returns the answer's JSON, unchecked; undefined where it has no body.
   * @throws ValidationError when the path is not a plain path from the base URL on, or a GET has a body; nothing was
   * sent.
   */
  request(request: RawRequest, options?: CallOptions): ApiPromise<unknown> {
    try {
      const operation = rawOperation(request);
      const { method, path, query, body } = request;
      return this.#call(operation, { path, payload: method === "GET" ? query : body, query }, options);
    } catch (error) {
      // Every fault of a call rejects its promise; none is thrown past it.
      return answer(Promise.reject(error));
    }
  }

  /**
   * How each limit stands now, keyed by its name. The next request has to wait where `left` is less than it spends, or
   * `pausedUntil` is set; where a day's is used up, it fails at once.
   */
  budgets(): Record<keyof Limits, BudgetState> {
    return this.#connection.limiter.state();
  }

  /**
   * Refuses the calls that wait (a ConnectionError, not applied), drains the recorders, lets what is on the wire finish and
   * frees the sockets; also of the clients made from it. Nothing more is sent of an iteration or another long run. A later
   * call opens new sockets. It waits up to a second more for the ledger to write down what became of emails with a `once` key.
   *
   * @param options - `graceMs` bounds the whole (default: no bound): then the rest is cut off, and each event that a
   * recorder has not sent rejects and reaches `onDrop`. A server that is told to stop within 30 s has time for 25,000.
   * @returns what that came to.
   */
  async close(options: CloseOptions = {}): Promise<CloseReport> {
    // Null stands for no options, as everywhere.
    const { graceMs } = options ?? {};
    if (graceMs !== undefined && !(graceMs >= 0))
      throw new ConfigurationError(`close: graceMs must be a number of at least 0, got ${String(graceMs)}`);
    return this.#node.close(graceMs, this.#runtime.clock ?? systemClock);
  }

  /** The same as `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
