import { ConfigurationError } from "../errors.ts";
import type { ClaimLedger } from "../ledger/ledger.ts";
import { memoryLedger } from "../ledger/memory-ledger.ts";
import { unknownKeys } from "../runtime/values.ts";
import type { OpenFields } from "../workspace/contact-types.ts";
import type { EventSchemas, OpenEvents } from "../workspace/event-types.ts";
import type { StandardSchema } from "../workspace/standard-schema.ts";
import { Workspace, workspaceFaults } from "../workspace/workspace.ts";
import { clientFaults } from "./client-validation.ts";
import {
  type EmailGuards,
  emailGuards,
  type GuardEnvironment,
  type RecipientOptions,
} from "./email-guards.ts";
import { type Hooks, safeHooks } from "./hooks.ts";
import { documentedLimits, type Limits } from "./limits.ts";
import { type Log, type Logger, type LogLevel, logTo } from "./logger.ts";
import type { Priority } from "./priority.ts";
import { type ProxyEnvironment, type ProxyRoute, proxyRoute } from "./proxy.ts";
import { isShared, type SharedLimits } from "./shared-limits.ts";
import { baseUrlOf, callFaults, isBrowser, keyFaults, routeFaults } from "./validation.ts";

/** The key, or where to ask for it; a function is asked once, and again after a 401. */
export type KeySource = string | (() => string | Promise<string>);

/** How a `fetch` is called. */
export interface FetchInit {
  /** In upper case. */
  method: string;
  /** Names in lower case, the key among them. */
  headers: Record<string, string>;
  /** JSON; absent where the request has no body. */
  body?: string;
  /** A redirect is an error: it would take the key elsewhere. */
  redirect: "manual";
  /** Ends the attempt. */
  signal: AbortSignal;
}

/** What is read of the answer of a `fetch`; the `Response` of every runtime and of undici has it. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** `opaqueredirect` for a redirect in a browser. */
  readonly type: string;
  /** Names in lower case, with their values. */
  readonly headers: Iterable<[string, string]>;
  /** The body, read piece by piece. */
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(reason?: unknown): Promise<unknown>;
    };
    cancel(): Promise<unknown>;
  } | null;
}

/** Any WHATWG fetch: the global one, undici's, that of a sandbox, or one of your own. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/**
 * What the library needs of an undici dispatcher. `Agent`, `Pool`, `ProxyAgent` and `MockAgent` have it.
 *
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { ProxyAgent } from "undici";
 *
 * await using proxied = new Client({ dispatcher: new ProxyAgent("http://proxy.internal:3128") });
 * ```
 */
export interface Dispatcher {
  /** Sends one request, as undici defines it. Returns false if the dispatcher is busy. */
  dispatch(options: object, handler: object): boolean;
}

/** Options of a client. Only the key and the base URL are required; the environment can provide both. */
export interface ClientOptions<
  CustomFields extends object = OpenFields,
  EventTypes extends object = OpenEvents,
> {
  /**
   * The API key, or a function that returns it. After a 401 the function is called again, once per call. Default: the
   * environment variable `TOUCHPOINT_API_KEY`.
   */
  readonly apiKey?: KeySource;
  /** The root address of the service. Default: `TOUCHPOINT_BASE_URL`. */
  readonly baseUrl?: string;
  /**
   * One attempt, from queueing its bytes to the last byte of the body, in milliseconds. Default 30,000. Without a `fetch`
   * or `dispatcher`, a connection that is not made within 10,000 ends it before, with a ConnectionError.
   */
  readonly timeoutMs?: number;
  /** A whole call, all its requests and waits; of an iteration each page. In milliseconds. Default: none. */
  readonly totalTimeoutMs?: number;
  /** Attempts after the first, at least 0. Default 4. */
  readonly maxRetries?: number;
  /** A 429 or 503 that asks for a longer wait is thrown at once, in milliseconds. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** The documented limits, any of them corrected; `redisLimits(…)` shares them; `false` turns rate limiting off. */
  readonly limits?: Partial<Limits> | SharedLimits | false;
  /** Requests in flight at most. Default 16. */
  readonly concurrency?: number;
  /**
   * How long a call may wait for limits and slots, all its waits together, in milliseconds. One that is known to have to
   * wait longer is a RateLimitError at once, and not sent. Background work ignores it. Default: none.
   */
  readonly maxWaitMs?: number;
  /** Interactive calls that may wait at once; one more is a RateLimitError, and not sent. Default: none. */
  readonly maxQueued?: number;
  /**
   * Who goes first where a limit is short: `interactive` calls before `background` ones. Default: `background` for
   * iterations, `ingest`, `import` and `changes`, `interactive` for everything else.
   */
  readonly priority?: Priority;
  /**
   * The least share of each short window that background work leaves while interactive calls are about, from 0 to 0.5.
   * Default 0.1.
   */
  readonly interactiveReserve?: number;
  /** Replaces the transport (default: undici). The global one is looked up at each call: a mock may come later. */
  readonly fetch?: Fetch;
  /** An undici Dispatcher for the default transport (proxy, mutual TLS). It stays open when the client closes. */
  readonly dispatcher?: Dispatcher;
  /**
   * The HTTP proxy that requests go through: its URL (`http:` or `https:`, with a user name and password where it wants
   * them), or `env` for that of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. It is asked for a tunnel, so that it sees
   * nothing of https. Plain `http` to this machine, and what a `fetch` or `dispatcher` sends, goes past it. Default:
   * `env` where `NODE_USE_ENV_PROXY=1`, as in Node itself.
   */
  readonly proxy?: "env" | (string & {});
  /**
   * Whether requests go to a test double where one is in place: MSW, nock, undici's global MockAgent, and in a test
   * runner any replaced global fetch. A `fetch`, `dispatcher` or `proxy` goes before. Default true.
   */
  readonly interception?: boolean;
  /**
   * Sent with every request; `undefined` leaves a header out. `Authorization` and others that the library sets itself
   * are refused here.
   */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** What to do with an answer that does not fit: report and hand over, throw, or not look. Default `warn`. */
  readonly responseValidation?: "warn" | "strict" | "off";
  /** A longer answer is dropped and the call fails, in bytes. Default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Where send-once keys are kept. Default: in memory, for this client and its siblings. */
  readonly ledger?: ClaimLedger;
  /** A Standard Schema of `customFields` as JSON carries them; an update is checked key by key. */
  readonly customFields?: StandardSchema<CustomFields>;
  /** A Standard Schema of the properties of each event, by its name; other names are refused. */
  readonly events?: EventSchemas<EventTypes>;
  /** Functions told of attempts, answers, retries and waits. Default: none. */
  readonly hooks?: Hooks;
  /** Shaped like `console`. Default: nothing is logged. */
  readonly logger?: Logger;
  /** How much the logger is told. Default `warn`; only `debug` lines may hold personal data, none the key. */
  readonly logLevel?: LogLevel;
  /**
   * Whom email may be sent to: `{ allow: ["*@ours.example"] }`. `TOUCHPOINT_RECIPIENTS`, a list separated by commas,
   * holds beside it. Default: everybody.
   */
  readonly recipients?: RecipientOptions;
  /**
   * Emails are checked and answered with an id that begins with `dry-run:`, and not sent. `TOUCHPOINT_DRY_RUN=1` does the
   * same, whatever is set here. Default false.
   */
  readonly dryRun?: boolean;
  /** Corrects the path of an operation: `{ "companies.create": "/api/v1/…" }`; `/:id` stays where there is one. */
  readonly routes?: Readonly<Record<string, string>>;
  /** Allows `http://` beyond loopback. Default false. */
  readonly allowInsecureHttp?: boolean;
  /** A key in a web page belongs to every visitor: refused there, unless this is set. Default false. */
  readonly dangerouslyAllowBrowser?: boolean;
}

/** What one call may set differently from its client. */
export interface CallOptions {
  /** Ends the call at once, waits included; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** One attempt, in milliseconds, at least 1. Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** The whole call, all its requests and waits, in milliseconds, at least 1. Default: the client's. */
  readonly totalTimeoutMs?: number | undefined;
  /** All waits for limits and slots together, in milliseconds. Default: the client's; of background work none. */
  readonly maxWaitMs?: number | undefined;
  /** Attempts after the first, at least 0. Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** Whether it goes before background work, or leaves room for interactive calls. Default: the client's. */
  readonly priority?: Priority | undefined;
  /** Sent beside the client's headers, and in place of those of the same name; `undefined` leaves that one out. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Options with every default filled in. */
export interface Settings extends ProxyRoute {
  readonly apiKey: KeySource;
  /** Scheme, host and port. */
  readonly origin: string;
  /** What of the base URL comes before every path; empty or without a slash at its end. */
  readonly basePath: string;
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly maxRetryAfterMs: number;
  readonly limits: Limits | false;
  /** Where the budgets come from, when other processes spend them too. */
  readonly sharing: SharedLimits | undefined;
  readonly concurrency: number;
  /** Of every call; undefined: by method. */
  readonly priority: Priority | undefined;
  readonly interactiveReserve: number;
  readonly maxWaitMs: number | undefined;
  readonly maxQueued: number;
  readonly fetch: Fetch | undefined;
  readonly dispatcher: Dispatcher | undefined;
  /** Whether test doubles are followed. */
  readonly interception: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly responseValidation: "warn" | "strict" | "off";
  readonly maxResponseBytes: number;
  readonly ledger: ClaimLedger;
  /** Undefined when no schema is given. */
  readonly workspace: Workspace | undefined;
  readonly hooks: Hooks;
  readonly log: Log;
  readonly emailGuards: EmailGuards;
  readonly routes: Readonly<Record<string, string>>;
}

const defaults = {
  timeoutMs: 30_000,
  maxRetries: 4,
  maxRetryAfterMs: 60_000,
  concurrency: 16,
  interactiveReserve: 0.1,
  maxQueued: Number.POSITIVE_INFINITY,
  maxResponseBytes: 64 * 1024 * 1024,
  responseValidation: "warn",
} as const;

const known: Readonly<Record<keyof ClientOptions, true>> = {
  apiKey: true,
  baseUrl: true,
  timeoutMs: true,
  totalTimeoutMs: true,
  maxRetries: true,
  maxRetryAfterMs: true,
  limits: true,
  concurrency: true,
  priority: true,
  interactiveReserve: true,
  maxWaitMs: true,
  maxQueued: true,
  fetch: true,
  dispatcher: true,
  interception: true,
  proxy: true,
  headers: true,
  responseValidation: true,
  maxResponseBytes: true,
  ledger: true,
  customFields: true,
  events: true,
  hooks: true,
  routes: true,
  recipients: true,
  dryRun: true,
  allowInsecureHttp: true,
  logger: true,
  logLevel: true,
  dangerouslyAllowBrowser: true,
};

/** What the environment says of emails and proxies, as the first client found it. */
export interface Environment extends GuardEnvironment {
  readonly proxy: ProxyEnvironment;
}

/** Where the snapshot of the options keeps that: out of reach of any option. */
export const fromEnvironment = Symbol("environment");

const environmentOf = (options: object): Environment =>
  Reflect.get(options, fromEnvironment) ?? { proxy: {} };

/** Every option there is. */
export const optionNames: readonly string[] = Object.keys(known);

/**
 * Checks the options, which have their key and base URL by now, and fills in the defaults.
 *
 * @param operations - the path of every operation, by its id.
 * @throws ConfigurationError naming every fault at once.
 */
export const settingsFrom = (
  options: ClientOptions,
  operations: Readonly<Record<string, string>>,
): Settings => {
  const faults = [...unknownKeys(options, optionNames), ...callFaults(options)];
  const { apiKey, baseUrl, customFields, events } = options;
  const log = logTo(options.logger, options.logLevel ?? "warn");
  faults.push(...keyFaults(apiKey));
  const { origin, basePath } = baseUrlOf(baseUrl, options.allowInsecureHttp === true, faults);
  faults.push(...clientFaults(options));
  if (isBrowser() && options.dangerouslyAllowBrowser !== true) {
    faults.push(
      "this seems to be a browser: a key in a page belongs to every visitor (dangerouslyAllowBrowser: true allows it)",
    );
  }
  const environment = environmentOf(options);
  const guards = emailGuards(options, environment, { faults, log });
  const route = proxyRoute(options.proxy, { origin, environment: environment.proxy }, faults);
  faults.push(...workspaceFaults({ customFields, events }));
  if (options.routes !== undefined) faults.push(...routeFaults(options.routes, operations));
  if (faults.length > 0 || apiKey === undefined) throw new ConfigurationError(faults.join("; "));
  const sharing = isShared(options.limits) ? options.limits : undefined;
  const ownLimits = isShared(options.limits) ? {} : options.limits;
  return {
    ...defaults,
    ...options,
    apiKey,
    origin,
    basePath,
    totalTimeoutMs: options.totalTimeoutMs,
    limits: sharing?.numbers ?? (ownLimits === false ? false : { ...documentedLimits, ...ownLimits }),
    sharing,
    priority: options.priority,
    maxWaitMs: options.maxWaitMs,
    fetch: options.fetch,
    dispatcher: options.dispatcher,
    ...route,
    interception:
      options.interception !== false && (options.proxy === undefined || route.proxy === undefined),
    headers: { ...options.headers },
    ledger: options.ledger ?? memoryLedger(),
    workspace: customFields || events ? new Workspace({ customFields, events }) : undefined,
    hooks: safeHooks(options.hooks ?? {}),
    log,
    emailGuards: guards,
    routes: { ...options.routes },
  };
};
