import { ConfigurationError } from "../errors.ts";
import type { ClaimLedger } from "../ledger/ledger.ts";
import { memoryLedger } from "../ledger/memory-ledger.ts";
import { type Rule, ruleFaults } from "../runtime/rules.ts";
import type { StandardSchema } from "../runtime/standard-schema.ts";
import type { OpenFields } from "../workspace/contact-types.ts";
import type { EventSchemas, OpenEvents } from "../workspace/event-types.ts";
import { type UnknownFields, Workspace } from "../workspace/workspace.ts";
import { clientRules } from "./client-rules.ts";
import type { Deadline } from "./deadline.ts";
import { type EmailGuards, emailGuards, type RecipientOptions } from "./email-guards.ts";
import type { Dispatcher, Fetch } from "./fetch.ts";
import { type Hooks, safeHooks } from "./hooks.ts";
import { documentedLimits, type LimitScopes, type Limits } from "./limits.ts";
import { type Log, type Logger, type LogLevel, logTo } from "./logger.ts";
import type { Priority } from "./priority.ts";
import { type Environment, proxyFor } from "./proxy.ts";
import { isShared, type SharedLimits } from "./shared-limits.ts";
import { baseUrlOf, browserFaults, keyFaults, platformFaults, type Route, routeOf } from "./validation.ts";

/** The API key, or a function that returns it. The function is called once, and again after a 401. */
export type KeySource = string | (() => string | Promise<string>);

/** Options of a client. Only the key and the base URL are required; the environment can provide both. */
export interface ClientOptions<
  CustomFields extends object = OpenFields,
  EventTypes extends object = OpenEvents,
> {
  /**
   * The API key, or a function that returns it. After a 401 the function is called again, once per call. Default: the
   * environment variable `TOUCHPOINT_API_KEY`.
   */
  readonly apiKey?: KeySource | undefined;
  /** The root address of the service. Default: `TOUCHPOINT_BASE_URL`. */
  readonly baseUrl?: string | undefined;
  /**
   * The limit for one attempt in milliseconds, including connecting, up to the last byte of the response. Waits for
   * limits do not count. Default 30,000. Without a `fetch` or `dispatcher`, connecting may take at most 10,000; if it
   * takes longer, the attempt fails with a ConnectionError.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The limit for a complete call with all its requests and waits, in milliseconds; for an iteration, per page.
   * Default: none.
   */
  readonly totalTimeoutMs?: number | undefined;
  /**
   * For `withOptions`: the time when every call of the new client, including its waits, must have ended. A `Date`, a
   * `Temporal.Instant`, or milliseconds from now. A call whose wait would leave less than 250 ms before the
   * deadline fails at once with a RateLimitError and is not sent. If the deadline is less than a second away when you
   * set it, a quarter of that time applies instead of 250 ms. Default: the deadline of the original client, or none.
   */
  readonly deadline?: Deadline | undefined;
  /** Retries after the first attempt, at least 0. Default 4. */
  readonly maxRetries?: number | undefined;
  /**
   * The maximum `Retry-After` of a 429 or 503, in milliseconds. A call whose response requires a longer wait fails at
   * once. Default 60,000.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * Changes documented limits. `redisLimits(…)` and `sqlLimits(…)` share them between processes. `false` turns rate
   * limiting off.
   */
  readonly limits?: Partial<Limits> | SharedLimits | false | undefined;
  /**
   * Names the limits that several keys share: `{ events: "workspace-7" }`. Default: each key, or each id of shared
   * limits, counts alone.
   */
  readonly limitScopes?: LimitScopes | undefined;
  /** The maximum number of requests in flight. Default 16. */
  readonly concurrency?: number | undefined;
  /**
   * How long a call may wait for limits and slots in total, in milliseconds. A call that would have to wait longer
   * fails at once with a RateLimitError and is not sent. Does not apply to background work. Default: none.
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * The maximum number of waiting interactive calls. A further call fails with a RateLimitError and is not sent.
   * Default: no maximum.
   */
  readonly maxQueued?: number | undefined;
  /**
   * Which calls are sent first when calls wait for a limit: `interactive` before `background`. Default: `background`
   * for iterations, `ingest`, `import` and `changes`; `interactive` for all other calls.
   */
  readonly priority?: Priority | undefined;
  /**
   * The smallest share of each short window that background work leaves free while there are interactive calls, 0–0.5.
   * Default 0.15.
   */
  readonly interactiveReserve?: number | undefined;
  /**
   * A function that replaces the default transport, undici. If you pass the global `fetch` itself, each request uses
   * the `fetch` that is global at that time, so you can mock it later.
   */
  readonly fetch?: Fetch | undefined;
  /**
   * A Dispatcher of undici 7 or 8 for the default transport (proxy, mutual TLS). It stays open when the client closes.
   */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * The HTTP proxy for all requests: its URL (`http:` or `https:`, with user name and password if needed), or `env` for
   * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. The client opens a tunnel, so the proxy cannot read https. Plain `http`
   * to this machine and requests through `fetch` or `dispatcher` do not use the proxy. Default: `env` if
   * `NODE_USE_ENV_PROXY=1`, as in Node.
   */
  readonly proxy?: "env" | (string & {}) | undefined;
  /**
   * Whether requests go to a test double if there is one: MSW, nock, undici's global MockAgent, and under Vitest, Jest
   * or `node:test` a replaced global `fetch`. The options `fetch`, `dispatcher` and `proxy` take precedence. Default
   * true.
   */
  readonly interception?: boolean | undefined;
  /**
   * Extra headers for every request; `undefined` removes a header. `Authorization` and other headers that the library
   * sets itself are refused.
   */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Invalid responses: `warn` reports and returns them, `strict` throws, `off` does not validate. Default `warn`. */
  readonly responseValidation?: "warn" | "strict" | "off" | undefined;
  /** The maximum size of a response body in bytes. With a larger body, the call fails. Default 64 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** The store for send-once keys. Default: in memory, shared with clients created by `withOptions`. */
  readonly ledger?: ClaimLedger | undefined;
  /** A Standard Schema for `customFields`. An update is checked key by key. */
  readonly customFields?: StandardSchema<CustomFields> | undefined;
  /** Standard Schemas for the properties of each event, by event name. Events with other names are refused. */
  readonly events?: EventSchemas<EventTypes> | undefined;
  /** Functions that observe attempts, responses, retries and waits. Default: none. */
  readonly hooks?: Hooks | undefined;
  /** A logger with the methods of `console`. Default: nothing is logged. */
  readonly logger?: Logger | undefined;
  /**
   * The minimum level of log lines. Default `warn`. Only `debug` lines may contain personal data. No line contains the
   * key.
   */
  readonly logLevel?: LogLevel | undefined;
  /**
   * The allowed email recipients: `{ allow: ["*@ours.example"] }`. The variable `TOUCHPOINT_RECIPIENTS`, a
   * comma-separated list, applies in addition. Default: everyone.
   */
  readonly recipients?: RecipientOptions | undefined;
  /**
   * Whether emails are checked but not sent. A call that would send one returns an id that starts with `dry-run:`.
   * `TOUCHPOINT_DRY_RUN=1` does the same, even if this option is false. Default false.
   */
  readonly dryRun?: boolean | undefined;
  /**
   * Corrects the path of an operation, or its method and path: `{ "companies.create": "/api/v1/…",
   * "emails.scheduled.cancel": "POST /api/v1/…/:id" }`. Keep `/:id` if the path has it.
   */
  readonly routes?: Readonly<Record<string, string>> | undefined;
  /** How to handle input fields that the document does not name. Default: the client sends them. */
  readonly unknownFields?: UnknownFields | undefined;
  /** Allows `http://` to other machines. Default false. */
  readonly allowInsecureHttp?: boolean | undefined;
  /** Allows use in a browser. Every visitor of the page can then read the key. Default false. */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/** Options of a single call; they override the client's. */
export interface CallOptions {
  /** Aborts the call at once, even while it waits. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The limit for one attempt, in milliseconds, at least 1. Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /**
   * The limit for the complete call with all requests and waits, in milliseconds, at least 1. Default: the client's.
   */
  readonly totalTimeoutMs?: number | undefined;
  /** The limit for all waits for limits and slots, in milliseconds. Default: the client's; none for background work. */
  readonly maxWaitMs?: number | undefined;
  /** Retries after the first attempt, at least 0. Default: the client's. */
  readonly maxRetries?: number | undefined;
  /** `interactive` calls are sent before `background` calls. Default: the client's. */
  readonly priority?: Priority | undefined;
  /** Extra headers; they override the client's headers of the same name. `undefined` removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The names of options that always have a value in the settings. */
type Defaulted = keyof typeof defaults | "ledger" | "hooks" | "interception";
type Optional = "fetch" | "totalTimeoutMs" | "priority" | "maxWaitMs" | "dispatcher";

/** Options without undefined values. */
type DefinedOptions = { readonly [Name in keyof ClientOptions]?: NonNullable<ClientOptions[Name]> };

/** Options with every default filled in. */
export interface Settings extends Required<Pick<DefinedOptions, Defaulted>>, Pick<ClientOptions, Optional> {
  readonly apiKey: KeySource;
  /** The scheme, host and port of the service. */
  readonly origin: string;
  /** The path of the base URL, without a slash at its end; may be empty. */
  readonly basePath: string;
  readonly limits: Limits | false;
  /** The source of the limits, if other processes share them. */
  readonly sharing: SharedLimits | undefined;
  /**
   * Checks input and responses; undefined if the options have neither `customFields` nor `events` nor `unknownFields`.
   */
  readonly workspace: Workspace | undefined;
  readonly log: Log;
  readonly emailGuards: EmailGuards;
  readonly routes: Readonly<Record<string, Route>>;
  /** The URL of the proxy for the service; undefined if there is none. */
  readonly proxy: string | undefined;
}

const defaults = {
  timeoutMs: 30_000,
  maxRetries: 4,
  maxRetryAfterMs: 60_000,
  concurrency: 16,
  interactiveReserve: 0.15,
  maxQueued: Number.POSITIVE_INFINITY,
  maxResponseBytes: 64 * 1024 * 1024,
  responseValidation: "warn",
  headers: {},
  limitScopes: {},
} as const;

/**
 * Checks the options, including the key and the base URL from the environment, and fills in the defaults.
 *
 * @throws ConfigurationError naming every fault at once.
 */
export const settingsFrom = (options: ClientOptions, environment: Environment): Settings => {
  const faults = ruleFaults(options, clientRules satisfies Record<keyof ClientOptions, Rule>);
  const { apiKey, baseUrl, customFields, events, unknownFields } = options;
  const log = logTo(options.logger, options.logLevel ?? "warn");
  faults.push(...keyFaults(apiKey));
  const { origin, basePath } = baseUrlOf(baseUrl, options.allowInsecureHttp === true, faults);
  if (options.dispatcher !== undefined && options.fetch !== undefined)
    faults.push("fetch and dispatcher cannot be combined: a dispatcher belongs to the default transport");
  if (options.dangerouslyAllowBrowser !== true) faults.push(...browserFaults());
  faults.push(...platformFaults());
  const guards = emailGuards(options, environment, { faults, log });
  const proxy = proxyFor(options.proxy, { origin, environment }, faults);
  if (faults.length > 0 || apiKey === undefined) throw new ConfigurationError(faults.join("; "));
  const { limits } = options;
  const sharing = isShared(limits) ? limits : undefined;
  return {
    ...defaults,
    // `options` is a snapshot, which leaves out undefined options, so it replaces no default with undefined.
    ...(options as DefinedOptions),
    apiKey,
    origin,
    basePath,
    limits: sharing?.numbers ?? (limits === false ? false : { ...documentedLimits, ...limits }),
    sharing,
    proxy,
    interception: options.interception !== false && (options.proxy === undefined || proxy === undefined),
    ledger: options.ledger ?? memoryLedger(),
    workspace:
      customFields || events || unknownFields
        ? new Workspace({ customFields, events, unknownFields, log })
        : undefined,
    hooks: safeHooks(options.hooks ?? {}),
    log,
    emailGuards: guards,
    routes: Object.fromEntries(
      Object.entries(options.routes ?? {}).map(([operation, route]) => [operation, routeOf(route)]),
    ),
  };
};
