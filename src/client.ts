import { type ApiPromise, answer } from "./call/api-promise.ts";
import { Call } from "./call/call.ts";
import { sendRequest } from "./call/executor.ts";
import { type RawRequest, rawOperation } from "./call/raw-request.ts";
import { type Connection, connect } from "./connection.ts";
import { ClientNode, type CloseReport } from "./lifecycle.ts";
import { type ClientDeadline, deadlineOn } from "./options/deadline.ts";
import type { BudgetState, Limits } from "./options/limits.ts";
import { type CallOptions, type ClientOptions, settingsFrom } from "./options/options.ts";
import type { Environment } from "./options/proxy.ts";
import { environmentOf, sameOptions, snapshot } from "./options/snapshot.ts";
import { Companies } from "./resources/companies.ts";
import { Contacts } from "./resources/contacts.ts";
import { Emails } from "./resources/emails.ts";
import { type AnyEvents, Events } from "./resources/events.ts";
import { Lists } from "./resources/lists.ts";
import { bindMethods } from "./runtime/bound-methods.ts";
import { type Clock, systemClock } from "./runtime/clock.ts";
import { assertNode } from "./runtime/node-version.ts";
import { mustBeAtLeast, refuseSetup, ruleFaults } from "./runtime/rules.ts";
import type { OpenFields } from "./workspace/contact-types.ts";
import type { OpenEvents } from "./workspace/event-types.ts";

assertNode();

/** Options for closing a client. */
export interface CloseOptions {
  /** The maximum time for requests in flight and the events of recorders, in milliseconds. Default: no limit. */
  readonly graceMs?: number;
}

/** The clock, random numbers, environment variables and parent of a client. A test can pass its own clock. */
export interface Runtime {
  readonly clock: Clock;
  /** 0 ≤ random() < 1. */
  readonly random: () => number;
  readonly environment: Environment;
  /** The client whose `withOptions` creates this client. */
  readonly parent: {
    readonly connection: Connection;
    readonly node: ClientNode;
    readonly options: ClientOptions;
    readonly deadline: ClientDeadline | undefined;
  };
}

/**
 * The client of the service.
 *
 * Creating a client opens no socket and starts no timer; the first call does. Clients with the same base URL and key
 * share their limits, even if they exist one after the other. A client whose `apiKey` is a function has separate
 * limits, unless `limitScopes` names them. The options `customFields` and `events` set the types of `contacts` and
 * `events`. For a function that accepts any client, use the type `AnyClient`.
 *
 * Every method may reject with a ValidationError (nothing was sent), AuthenticationError (401), PermissionDeniedError
 * (403), RateLimitError (429), InternalServerError (500), BadGatewayError (502), ServiceUnavailableError (503),
 * GatewayTimeoutError (504), ConnectionError, TimeoutError or ResponseValidationError. If the call's signal aborts, the
 * method rejects with the signal's reason. The error's `outcome` says whether the call may have taken effect. Each
 * method documents its additional errors.
 *
 * @throws ConfigurationError naming every fault of the options at once; also if another client with the same key and
 * base URL uses other `limits`.
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 *
 * const client = new Client(); // reads TOUCHPOINT_API_KEY and TOUCHPOINT_BASE_URL
 * const { contact } = await client.contacts.upsert({ email: "ada@example.com", name: "Ada Lovelace" });
 * console.log(contact.id);
 * await client.close();
 * ```
 */
export class Client<CustomFields extends object = OpenFields, EventTypes extends object = OpenEvents> {
  /** Creates, finds, updates, imports and exports contacts. */
  readonly contacts: Contacts<CustomFields>;
  /** Creates, updates and finds companies. */
  readonly companies: Companies;
  /** Creates lists, and adds and removes their contacts. */
  readonly lists: Lists;
  /** Records events: what contacts did. */
  readonly events: Events<EventTypes, CustomFields>;
  /** Sends and schedules one-to-one emails. */
  readonly emails: Emails;
  readonly #options: ClientOptions;
  readonly #runtime: Omit<Runtime, "parent">;
  readonly #call: Call;
  readonly #connection: Connection;
  readonly #node: ClientNode;
  readonly #deadline: ClientDeadline | undefined;

  /** Creates a client. Every option has a default. @throws ConfigurationError naming every fault at once. */
  constructor(options?: ClientOptions<CustomFields, EventTypes>);
  /** @internal */
  constructor(options?: ClientOptions<CustomFields, EventTypes>, runtime?: Partial<Runtime>);
  constructor(options: ClientOptions<CustomFields, EventTypes> = {}, runtime: Partial<Runtime> = {}) {
    const { clock = systemClock, random = Math.random, environment = environmentOf(process.env) } = runtime;
    // Don't store the parent, because a client would then keep all of its ancestors alive.
    this.#runtime = { clock, random, environment };
    const { parent } = runtime;
    const { TOUCHPOINT_API_KEY: apiKey, TOUCHPOINT_BASE_URL: baseUrl } = environment;
    this.#options = snapshot(options, parent?.options ?? { apiKey, baseUrl });
    // If only the deadline differs, share the connection, so that a web service can create a client for each request.
    const sharedConnection =
      parent && sameOptions(this.#options, parent.options) ? parent.connection : undefined;
    const settings = sharedConnection?.settings ?? settingsFrom(this.#options, environment);
    this.#connection = sharedConnection ?? connect(settings, this.#runtime, parent?.connection);
    this.#node = new ClientNode(sharedConnection ? [] : this.#connection.resources, parent?.node);
    const { deadline } = this.#options;
    this.#deadline = deadline === undefined ? parent?.deadline : deadlineOn(clock, deadline);
    this.#call = Call.ofClient({ ...this.#connection, clock, deadline: this.#deadline });
    this.contacts = new Contacts(this.#call);
    this.companies = new Companies(this.#call);
    this.lists = new Lists(this.#call);
    const { interactiveReserve, ledger, log } = settings;
    if (sharedConnection === undefined) ledger.attach?.(log);
    this.emails = new Emails(this.#call);
    this.events = new Events(this.#call, {
      budgets: () => this.budgets(),
      largestBatch: () => this.#connection.limiter.budgets.events.largestBatch(interactiveReserve),
      recorders: this.#node.recorders,
    });
    bindMethods(this);
  }

  /**
   * Creates a client with some options changed. Options that are left out or `undefined` keep their values.
   *
   * The new client shares the ledger. It shares the limits, unless you change the key or the base URL, or set
   * `limits: false`. It shares the sockets, unless you change `fetch`, `dispatcher`, `concurrency` or
   * `maxResponseBytes`. Closing this client closes the new one, too. Closing the new one ends only what the two clients
   * don't share.
   *
   * If you change only `deadline`, the two clients share everything, and creating the new one takes about 0.05 ms. So a
   * web service can create a client for each request. You need not close such a client.
   *
   * @throws ConfigurationError naming every fault of the options at once; also for other `limits` of the same key.
   * @example
   * ```ts
   * const patient = client.withOptions({ totalTimeoutMs: 600_000 });
   * const contacts = await patient.contacts.list().toArray();
   * ```
   */
  withOptions<Fields extends object = CustomFields, Types extends object = EventTypes>(
    changes: ClientOptions<Fields, Types>,
  ): Client<Fields, Types> {
    // Pass the ledger even if it is the default one, because both clients share it.
    const { ledger } = this.#connection.settings;
    const options = { ...this.#options, ledger, deadline: undefined };
    // As in all options, null means no changes.
    return derived(changes ?? {}, {
      ...this.#runtime,
      parent: { connection: this.#connection, node: this.#node, options, deadline: this.#deadline },
    });
  }

  /**
   * Sends a request to an endpoint that has no method here. Rate limiting, retries and timeouts apply as for every
   * call.
   *
   * @returns the response's JSON, not validated; `undefined` if the response has no body.
   * @throws ValidationError when `path` is not a plain path starting with `/`, or a GET has a body; nothing was sent.
   * @example
   * ```ts
   * const page = await client.request({ method: "GET", path: "/api/v1/contacts", query: { limit: 1 } });
   * ```
   */
  request(request: RawRequest, options?: CallOptions): ApiPromise<unknown> {
    try {
      const operation = rawOperation(request, this.#connection.settings);
      const { method, path, query, body } = request;
      return sendRequest(
        this.#call,
        operation,
        { path, payload: method === "GET" ? query : body, query },
        options,
      );
    } catch (error) {
      // A call never throws. Faults reject its promise.
      return answer(Promise.reject(error));
    }
  }

  /**
   * Returns the current state of each limit, keyed by its name.
   *
   * The next request has to wait if it spends more than `remaining`, or if `pausedUntil` is set. If a daily limit is
   * used up, the request fails at once.
   *
   * @example
   * ```ts
   * const { used, remaining, resetsInMs } = client.budgets().requests;
   * console.log(`${used} used, ${remaining} left, the next is free in ${resetsInMs} ms`);
   * ```
   */
  budgets(): Record<keyof Limits, BudgetState> {
    return this.#connection.limiter.state();
  }

  /**
   * Closes the client and all clients created from it with `withOptions`.
   *
   * Waiting calls are refused with a ConnectionError (`not-applied`). Recorders send their events, requests in flight
   * may finish, and the sockets are closed. Iterations and other long runs send nothing more. Only one that has not yet
   * requested its first page runs after the close, like a later call. Both before and after `close` aborts calls, it
   * waits up to one second for the ledger to store the results of emails with a `once` key. You can still use the
   * client: a later call opens new sockets.
   *
   * @param options - `graceMs` limits the time until `close` aborts the remaining calls (default: no limit). The promise of
   * each unsent event rejects, and `onDrop` gets the event. If your server has 30 s to stop, use 25,000.
   * @returns how many events recorders sent (`drained`) and dropped (`pending`), how many waiting calls were refused,
   * and how many calls were aborted.
   * @example
   * ```ts
   * process.once("SIGTERM", async () => {
   *   const { drained, aborted } = await client.close({ graceMs: 25_000 });
   *   console.log(`${drained} events sent, ${aborted} calls aborted`);
   * });
   * ```
   */
  async close(options: CloseOptions = {}): Promise<CloseReport> {
    refuseSetup("close", ruleFaults(options, { graceMs: mustBeAtLeast(0) }));
    return this.#node.close(options?.graceMs, this.#runtime.clock);
  }

  /** Does the same as `close`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * A client of any workspace, typed or not, for functions that accept any client. With this type, event names and custom
 * fields are checked only at run time. For a function that needs certain custom fields, use the parameter type `<E
 * extends object>(client: Client<Fields, E>)`.
 *
 * @example
 * ```ts
 * import type { AnyClient } from "touchpoint-sdk";
 *
 * const isKnown = async (client: AnyClient, email: string) => (await client.contacts.find(email)) !== null;
 * ```
 */
export interface AnyClient
  extends Pick<Client, "contacts" | "companies" | "lists" | "emails" | "request" | "budgets" | "close"> {
  /** Records events: what contacts did. */
  readonly events: AnyEvents;
  /** Creates a client with some options changed. */
  withOptions(changes: ClientOptions): AnyClient;
  /** Does the same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

// The class must not use its own name: bundlers would rename it _Client, and logs would show that.
const derived = <Fields extends object, Types extends object>(
  options: ClientOptions<Fields, Types>,
  runtime: Partial<Runtime>,
): Client<Fields, Types> => new Client(options, runtime);
