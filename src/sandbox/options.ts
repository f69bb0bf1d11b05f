import type { Clock } from "../clock.ts";
import type { Scope } from "../operations/define.ts";
import type { SandboxLimits } from "./limits/limits.ts";

/** What a value of a workspace's own contact field must be; `date` is an ISO 8601 string. */
export type CustomFieldKind = "text" | "number" | "boolean" | "date";

/** What the role of a key's creator allows: everything, everything but sending, or reading only. */
export type Role = "admin" | "editor" | "viewer";

/** A key and what it may do. */
export interface ApiKeyOptions {
  readonly key: string;
  /** Default: every scope. */
  readonly scopes?: readonly Scope[];
  /** Default: `default`. */
  readonly workspace?: string;
  /** From this time on the key gives 401. */
  readonly expiresAt?: Date | string;
  readonly revoked?: boolean;
  /** Default: `admin`. */
  readonly role?: Role;
  /** The id of the account its emails leave from; default: the workspace's first. */
  readonly mailAccount?: string;
}

/** A mail account of a workspace. */
export interface MailAccountOptions {
  readonly id: string;
  /** Display name and address. */
  readonly from?: string;
  /** Default: true. A disconnected account refuses every send with 400. */
  readonly connected?: boolean;
  /** While set, every send answers 502 with this sentence. */
  readonly failing?: string;
  /** Emails a day over everything the account sends; default: `limits.mailAccountPerDay`. */
  readonly dailyLimit?: number;
}

/** What may change about a mail account while the sandbox runs. */
export interface MailAccountChange {
  readonly connected?: boolean;
  /** The sentence of its 502; null mends it. */
  readonly failing?: string | null;
}

/** An automation, as far as events can tell: which event starts, resumes and ends a run. */
export interface AutomationOptions {
  readonly name: string;
  /** The event name that starts a run. */
  readonly startsOn: string;
  /** The event a started run waits for. */
  readonly waitsFor?: string;
  /** An exit rule: this event stops the run. */
  readonly exitsOn?: string;
  /** This event stops the run and counts as reaching the goal. */
  readonly goalOn?: string;
  /** The property that must be the same in the starting and the later event. */
  readonly correlateBy?: string;
  /** A transactional automation starts on events up to 7 days old instead of 72 hours. */
  readonly transactional?: boolean;
}

/** The settings of one workspace. */
export interface WorkspaceOptions {
  /** Defined contact fields. Not given: every name and value is accepted. Given: another name is a 400. */
  readonly customFields?: Readonly<Record<string, CustomFieldKind>>;
  /** Ids of signatures beside `default`, which always exists. */
  readonly signatures?: readonly string[];
  /** Default: one connected account, `mail-1`. */
  readonly mailAccounts?: readonly MailAccountOptions[];
  readonly doNotEmail?: readonly string[];
  /** Whether a tracking domain is active; default: true. */
  readonly tracking?: boolean;
  readonly automations?: readonly AutomationOptions[];
}

/** How long answers take, in milliseconds, and on which side of the counting the time passes. */
export interface LatencyOptions {
  readonly min: number;
  readonly max: number;
  /** `before` (default): the request counts when it is made and the answer is late; `after`: it arrives late. */
  readonly counted?: "before" | "after";
}

/** The settings of a sandbox; those of its `default` workspace are given on top. */
export interface SandboxOptions extends WorkspaceOptions {
  /** Default: one key, `sandbox-key`, with every scope. */
  readonly apiKeys?: readonly (string | ApiKeyOptions)[];
  /** Default: the documented limits. `false`: none. */
  readonly limits?: SandboxLimits | false;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: 0. A pair is a range, drawn at random for each request. */
  readonly latencyMs?: number | readonly [min: number, max: number] | LatencyOptions;
  /** Makes ids, latencies and random faults the same in every run. */
  readonly seed?: number;
  /** The order of `GET /contacts`, which the service document leaves open; default: `oldest-first`. */
  readonly order?: "oldest-first" | "newest-first";
  /**
   * How `search` finds: `address` (default) answers a known address with that contact alone, from an index, and
   * anything else with every contact whose address or name contains it; `substring` always does the latter.
   */
  readonly search?: "address" | "substring";
  /** A batch over the events limit: refused with 429 (default), or its surplus items fail with 429 each. */
  readonly batchOverflow?: "refuse" | "per-item";
  /** How a scheduled email comes back: `{ scheduled, email: { id, … } }` (default) or `{ scheduled, id, … }`. */
  readonly scheduledAnswer?: "nested" | "flat";
  /** How many requests `state.requests` keeps, the newest; default: 10,000. `state.counts` counts all. */
  readonly keepRequests?: number;
  /** Further workspaces by name, with their settings. */
  readonly workspaces?: Readonly<Record<string, WorkspaceOptions>>;
}
