import type { Clock } from "../runtime/clock.ts";
import type { Scope } from "../service/define.ts";

/** The type of a custom field's values; `date` is a day such as `2026-01-01`, or an ISO 8601 time with a zone. */
export type CustomFieldKind = "text" | "number" | "boolean" | "date";

/** The role of a key's creator: `admin` may do everything, `editor` everything but send, `viewer` only read. */
export type Role = "admin" | "editor" | "viewer";

/** An API key and its permissions. */
export interface ApiKeyOptions {
  /** The key itself: unique, without blanks. */
  readonly key: string;
  /** The scopes of the key; default: every scope. A call without its scope gives 403. */
  readonly scopes?: readonly Scope[];
  /** The name of the key's workspace; default: `default`. */
  readonly workspace?: string;
  /** When the key expires: a `Date` or an ISO 8601 string; default: never. An expired key gives 401. */
  readonly expiresAt?: Date | string;
  /** Whether the key was revoked; default: false. A revoked key gives 401. */
  readonly revoked?: boolean;
  /**
   * The role of the key's creator: `editor` may not send, `viewer` may only read; other calls give 403. Default:
   * `admin`.
   */
  readonly role?: Role;
  /** The id of the mail account that sends the key's emails; default: the workspace's first account. */
  readonly mailAccount?: string;
}

/** A mail account of a workspace. */
export interface MailAccountOptions {
  /** The id by which keys and emails refer to it. */
  readonly id: string;
  /** Display name and address; default: its id at `touchpoint.example`. */
  readonly from?: string;
  /** Whether the account is connected; default: true. A disconnected account refuses every send with 400. */
  readonly connected?: boolean;
  /** If set, every send fails with 502 and this message. Default: sends succeed. */
  readonly failing?: string;
  /** How many emails the account may send in any 24 hours; default: no limit. */
  readonly dailyLimit?: number;
}

/** A change to a mail account while the sandbox runs. A missing field stays as it is. */
export interface MailAccountChange {
  /** Whether the account is connected. A disconnected account refuses every send with 400. */
  readonly connected?: boolean;
  /** Every send fails with 502 and this message; null repairs the account. */
  readonly failing?: string | null;
  /**
   * How many emails of all keys and schedules the account sends per day from now on; null restores the initial limit.
   */
  readonly dailyLimit?: number | null;
}

/** An automation: the events that start, resume and end a run. */
export interface AutomationOptions {
  /** The automation's name, which the `note` of a response contains. */
  readonly name: string;
  /** The name of the event that starts a run. */
  readonly startsOn: string;
  /** The event that a started run waits for; default: none. */
  readonly waitsFor?: string;
  /** An exit rule: this event stops the run. */
  readonly exitsOn?: string;
  /** This event stops the run and counts as reaching the goal. */
  readonly goalOn?: string;
  /** A property that must be equal in the starting and the later event; default: none. */
  readonly correlateBy?: string;
  /** Whether the automation accepts events up to 7 days old instead of 72 hours; default: false. */
  readonly transactional?: boolean;
}

/** The settings of one workspace. */
export interface WorkspaceOptions {
  /** The custom fields of contacts; any other name is a 400. Default: every name and value is accepted. */
  readonly customFields?: Readonly<Record<string, CustomFieldKind>>;
  /** Ids of signatures; `default` always exists. An unknown id gives 404. */
  readonly signatures?: readonly string[];
  /** The mail accounts. Default: one connected account, `mail-1`. */
  readonly mailAccounts?: readonly MailAccountOptions[];
  /** Addresses, in any letter case, to which every send is refused with 400; default: none. */
  readonly doNotEmail?: readonly string[];
  /** Whether a tracking domain is active; default: true. */
  readonly tracking?: boolean;
  /** Which events start, resume and end runs; default: none. */
  readonly automations?: readonly AutomationOptions[];
}

/** A change to a workspace while the sandbox runs. A missing field stays as it is. */
export type WorkspaceChange = Pick<WorkspaceOptions, "signatures" | "tracking">;

/** At most `max` in any `windowMs` milliseconds. */
export interface LimitWindow {
  /** Above 0; `Infinity` for no limit. */
  readonly max: number;
  /** The length of the window in milliseconds, above 0. */
  readonly windowMs: number;
}

const day = 86_400_000;

/** The limits that the service document gives. Source: service document, Limits. */
export const documentedLimits = {
  requests: { max: 100, windowMs: 10_000 },
  requestsPerDay: { max: 50_000, windowMs: day },
  emails: { max: 20, windowMs: 60_000 },
  emailsPerDay: { max: 300, windowMs: day },
  events: { max: 50, windowMs: 1_000 },
  eventsPerDay: { max: 100_000, windowMs: day },
} as const satisfies Record<string, LimitWindow>;

/**
 * The names of the limits: the documented ones, and the daily limit of a mail account, which has no documented number.
 */
export type LimitName = keyof typeof documentedLimits | "mailAccountPerDay";

/**
 * The limits that apply. A missing limit is as documented; a number keeps the documented window; `false` turns the
 * limit off. The daily limit of a mail account is its own option, `dailyLimit`.
 */
export type SandboxLimits = {
  readonly [Name in keyof typeof documentedLimits]?: LimitWindow | number | false;
};

/** Options of a sandbox. Those of its workspace `default` are at the top level. */
export interface SandboxOptions extends WorkspaceOptions {
  /** The accepted keys: strings, or objects with scopes and more. Default: one key, `sandbox-key`, with every scope. */
  readonly apiKeys?: readonly (string | ApiKeyOptions)[] | undefined;
  /** The limits. Default: the documented ones. `false`: none except a `dailyLimit`. */
  readonly limits?: SandboxLimits | false | undefined;
  /** The source of time; `advance` moves ahead of it. Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** How long each response takes, in milliseconds; a pair is a range to draw from. Default 0. */
  readonly latencyMs?: number | readonly [min: number, max: number] | undefined;
  /** A number that makes ids, latencies and random faults the same in every run. Default: random. */
  readonly seed?: number | undefined;
  /** The order of `GET /contacts`, which the service document leaves open; default: `oldest-first`. */
  readonly order?: "oldest-first" | "newest-first" | undefined;
  /** How many of the newest requests `state.requests` keeps. Default 10,000. `state.counts` counts all requests. */
  readonly keepRequests?: number | undefined;
  /**
   * The base URL that the tested code uses: `handlers` answer requests below it and no others. Without it, they answer
   * requests to any origin that carry one of the keys.
   */
  readonly baseUrl?: string | undefined;
  /**
   * More workspaces by name, with their settings. The settings of `default` are at the top level, beside this option.
   */
  readonly workspaces?: Readonly<Record<string, WorkspaceOptions>> | undefined;
}

/** Options of the HTTP server. */
export interface ListenOptions {
  /** The port, 0–65,535. Default: 0, which picks a free port. */
  readonly port?: number | undefined;
  /** The address to bind; default: 127.0.0.1, this machine only. */
  readonly host?: string | undefined;
  /**
   * More host names that requests may use, such as the name of a docker compose service. Requests under any other name,
   * except `host` and this machine's own names, are refused with 403.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Whether to serve the page at `/` and the controls under `/_sandbox/`. Default: only if `host` is this machine,
   * because anyone who can reach them can read and change everything.
   */
  readonly workbench?: boolean | undefined;
}

/**
 * A running server.
 *
 * @example
 * ```ts
 * const server = await sandbox.listen();
 * console.log(server.url);
 * await server.close();
 * ```
 */
export interface Listening {
  /** The base URL for a client, for instance `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** Stops the server and closes all open connections. */
  close(): Promise<void>;
}
