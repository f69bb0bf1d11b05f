import type { Clock } from "../runtime/clock.ts";
import type { Scope } from "../service/define.ts";
import type { SandboxLimits } from "./limits.ts";

/** What a value of a workspace's own contact field must be; `date` is an ISO 8601 string. */
export type CustomFieldKind = "text" | "number" | "boolean" | "date";

/** What the role of a key's creator allows: everything, everything but sending, or reading only. */
export type Role = "admin" | "editor" | "viewer";

/** A key and what it may do. */
export interface ApiKeyOptions {
  /** The key itself, without blanks; no other has the same. */
  readonly key: string;
  /** What it may do; default: every scope. A call without its scope gives 403. */
  readonly scopes?: readonly Scope[];
  /** The workspace it acts in, by its name; default: `default`. */
  readonly workspace?: string;
  /** From this time on the key gives 401: a `Date` or an ISO 8601 string; default: never. */
  readonly expiresAt?: Date | string;
  /** Whether the key gives 401; default: false. */
  readonly revoked?: boolean;
  /** The role of its creator: `editor` may not send, `viewer` only read; else 403. Default: `admin`. */
  readonly role?: Role;
  /** The id of the account its emails leave from; default: the workspace's first. */
  readonly mailAccount?: string;
}

/** A mail account of a workspace. */
export interface MailAccountOptions {
  /** What keys and emails name it by. */
  readonly id: string;
  /** Display name and address; default: its id at `touchpoint.example`. */
  readonly from?: string;
  /** Default: true. A disconnected account refuses every send with 400. */
  readonly connected?: boolean;
  /** While set, every send answers 502 with this sentence; default: it works. */
  readonly failing?: string;
  /** Emails in any 24 hours over everything the account sends; default: `limits.mailAccountPerDay`. */
  readonly dailyLimit?: number;
}

/** What may change about a mail account while the sandbox runs. */
export interface MailAccountChange {
  /** False: every send is refused with 400; left out: as it is. */
  readonly connected?: boolean;
  /** The sentence of its 502; null mends it; left out: as it is. */
  readonly failing?: string | null;
}

/** An automation, as far as events can tell: which event starts, resumes and ends a run. */
export interface AutomationOptions {
  /** What the `note` of an answer calls it. */
  readonly name: string;
  /** The event name that starts a run. */
  readonly startsOn: string;
  /** The event a started run waits for; default: it waits for none. */
  readonly waitsFor?: string;
  /** An exit rule: this event stops the run. */
  readonly exitsOn?: string;
  /** This event stops the run and counts as reaching the goal. */
  readonly goalOn?: string;
  /** The property that must be the same in the starting and the later event; default: it does not matter. */
  readonly correlateBy?: string;
  /** Whether it starts on events up to 7 days old instead of 72 hours; default: false. */
  readonly transactional?: boolean;
}

/** The settings of one workspace. */
export interface WorkspaceOptions {
  /** Defined contact fields. Not given: every name and value is accepted. Given: another name is a 400. */
  readonly customFields?: Readonly<Record<string, CustomFieldKind>>;
  /** Ids of signatures beside `default`, which always exists; an unknown one gives 404. */
  readonly signatures?: readonly string[];
  /** Default: one connected account, `mail-1`. */
  readonly mailAccounts?: readonly MailAccountOptions[];
  /** Addresses, in any case of letters, that every send is refused to with 400; default: none. */
  readonly doNotEmail?: readonly string[];
  /** Whether a tracking domain is active; default: true. */
  readonly tracking?: boolean;
  /** Which events start, resume and end runs; default: none. */
  readonly automations?: readonly AutomationOptions[];
}

/** How long answers take, in milliseconds, and on which side of the counting the time passes. */
export interface LatencyOptions {
  /** The least, in milliseconds, from 0. */
  readonly min: number;
  /** The most, in milliseconds; each request draws one between. */
  readonly max: number;
  /** `before` (default): the request counts when it is made and the answer is late; `after`: it arrives late. */
  readonly counted?: "before" | "after";
}

/** The settings of a sandbox; those of its `default` workspace are given on top. */
export interface SandboxOptions extends WorkspaceOptions {
  /** Each a key alone, or with what it may do. Default: one key, `sandbox-key`, with every scope. */
  readonly apiKeys?: readonly (string | ApiKeyOptions)[];
  /** Which limits hold and how they count. Default: the documented ones. `false`: none but a `dailyLimit`. */
  readonly limits?: SandboxLimits | false;
  /** Where time comes from; `advance` moves ahead of it. Default: the system's. */
  readonly clock?: Clock;
  /** How long each answer takes, in milliseconds; a pair is a range to draw from. Default: 0. */
  readonly latencyMs?: number | readonly [min: number, max: number] | LatencyOptions;
  /** A number that makes ids, latencies and random faults the same in every run. Default: they differ. */
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
  /**
   * Where the service is for the code under test: `handlers` answer requests below it and no others. Without it they
   * answer requests to any origin that carry one of the keys.
   */
  readonly baseUrl?: string;
  /** Further workspaces by name, with their settings; the `default` one's are given beside this. */
  readonly workspaces?: Readonly<Record<string, WorkspaceOptions>>;
}

/** Where to listen. */
export interface ListenOptions {
  /** 0 to 65,535; default: 0, one that is free. */
  readonly port?: number;
  /** The address to bind; default: 127.0.0.1, this machine only. */
  readonly host?: string;
  /**
   * Further names it may be called by, such as a service of docker compose. Requests to any name but these, `host`
   * and this machine's own are refused with 403.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Whether the page at `/` and the controls under `/_sandbox/` are served; default: only where `host` is of this machine,
   * since whoever reaches them may read and change everything.
   */
  readonly workbench?: boolean;
  /** How long an idle connection is kept, told to the caller in `Keep-Alive`; in milliseconds, default: 5,000. */
  readonly keepAliveMs?: number;
}

/** A running server. */
export interface Listening {
  /** The base URL for a client, for instance `http://127.0.0.1:41234`. */
  readonly url: string;
  /** The port it listens at. */
  readonly port: number;
  /** Stops listening and breaks every open connection. */
  close(): Promise<void>;
}
