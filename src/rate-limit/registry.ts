import { ConfigurationError } from "../errors.ts";
import type { Settings } from "../options/options.ts";
import type { DayCount, LimitNumbers } from "../options/shared-limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { BudgetName } from "../service/define.ts";
import type { Budget, Pause } from "./budget.ts";
import type { Kind } from "./queue.ts";

/** A budget, and the requests that spend it, of all clients in the process that count together. */
export interface Account {
  readonly budget: Budget;
  /** The kinds whose narrowest budget it is; not held by it, because it may outlive their other budgets. */
  kinds: readonly WeakRef<Kind>[];
}

/** What is remembered of an earlier account of the same limit, and whom a new one tells that it is used. */
interface Memory {
  readonly day: DayCount;
  readonly pause: Pause | undefined;
  readonly keep: (account: Account) => void;
}

/** Makes a new account; `scope` is the name under which it is counted. */
type MakeAccount = (scope: string | undefined, memory?: Partial<Memory>) => Account;

/** A limit; `sending` has no numbers, only the pause of a mail account that is full: emails are still scheduled then. */
export type AccountName = BudgetName | "sending";

/** Finds an account of the process, or makes it. */
export type FindAccount = (name: AccountName, numbers: LimitNumbers, make: MakeAccount) => Account;

/** What says with whom a client counts. */
type Client = Pick<Settings, "apiKey" | "origin" | "basePath" | "limitScopes" | "sharing" | "fetch">;

/** Finds the account with this id, or makes it. */
type Find = (id: string, now: number, make: (memory: Partial<Memory>) => Account) => Account;

const sweepMs = 60_000;

/**
 * Keeps accounts for as long as they hold anything, whether a client is open or not: all of an account while it is in
 * use, and then only its day and its pause. What has expired is looked for once a minute, when a client is made; no
 * timer keeps the process alive.
 */
const newMemory = (): Find => {
  const known = new Map<string, { day: DayCount; pause: Pause; account: WeakRef<Account> }>();
  const kept = new Set<Account>();
  const keep = (account: Account): void => {
    account.budget.isKept = true;
    kept.add(account);
  };
  let sweptAt = Number.NEGATIVE_INFINITY;
  const sweep = (now: number): void => {
    // Clients may have different clocks.
    if (Math.abs(now - sweptAt) < sweepMs) return;
    sweptAt = now;
    for (const account of kept) {
      if (!account.budget.isIdle) continue;
      account.budget.isKept = false;
      kept.delete(account);
    }
    for (const [id, { day, pause, account }] of known)
      if (day.used === 0 && pause.until <= now && account.deref() === undefined) known.delete(id);
  };
  return (id, now, make) => {
    sweep(now);
    const before = known.get(id);
    const found = before?.account.deref();
    if (found !== undefined) return found;
    const account = make({ ...before, keep });
    const { day, lastPause: pause } = account.budget;
    known.set(id, { day, pause, account: new WeakRef(account) });
    return account;
  };
};

/** The memory of a `fetch`, or of shared limits; without one, that of all other clients. */
type MemoryOf = (owner?: object) => Find;

// Registered, so that the ESM and the CommonJS copy of the package in one process share the budgets of a key.
const place = Symbol.for("touchpoint-sdk.budgets.v1");

const newMemories = (): MemoryOf => {
  // Forgotten with its owner: no later client can have the same one. The memory of all others is that of the map itself.
  const ofOwners = new WeakMap<object, Find>();
  return (owner = ofOwners) => {
    const memory = ofOwners.get(owner) ?? newMemory();
    ofOwners.set(owner, memory);
    return memory;
  };
};

const memories = (): MemoryOf => {
  // One non-enumerable property, created with the first client; a closure, so that no listing shows a key.
  const shared = globalThis as { [place]?: MemoryOf };
  shared[place] ?? Object.defineProperty(shared, place, { value: newMemories(), configurable: true });
  return shared[place] ?? newMemories();
};

// workerd ends a timer together with the request that created it, and one request cannot wake another.
const isWorkerd = (): boolean => {
  // Node 20 has no navigator, and neither do its types.
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  return Object(navigator).userAgent === "Cloudflare-Workers";
};

const inWords = ({ limit: { max, windowMs }, maxPerDay }: LimitNumbers): string =>
  `${max} in ${windowMs} ms and ${maxPerDay} a day`;

/** Whether the numbers of a budget that another client named are those of this client. */
const sameNumbers = ({ limit, day }: Budget, scope: string, numbers: LimitNumbers): void => {
  const there: LimitNumbers = { limit, maxPerDay: day.max };
  if (inWords(there) !== inWords(numbers))
    throw new ConfigurationError(
      `limitScopes: "${scope}" is counted by another client with ${inWords(there)}, here with ${inWords(numbers)}`,
    );
};

/**
 * The accounts of a client: those that `limitScopes` names are shared by all clients of the origin (or, over Redis, of
 * the Redis) that name them so; the others by all clients of the key with the same base URL, numbers and `fetch`, or by
 * the id of the Redis. A key function may return any key, so without `limitScopes.requests` its client shares only what
 * it names. In workerd every client has its own.
 */
export const accountsOf = (client: Client, clock: Clock): FindAccount => {
  const { apiKey, origin, basePath, limitScopes, sharing, fetch } = client;
  const ofProcess = isWorkerd() ? undefined : memories();
  const key = typeof apiKey === "string" ? [apiKey] : limitScopes.requests && [limitScopes.requests, "named"];
  return (name, numbers, make) => {
    const scope = limitScopes[name === "sending" ? "emails" : name];
    const { max, windowMs } = numbers.limit;
    const own = sharing ? [name] : key && [name, origin, basePath, max, windowMs, numbers.maxPerDay, ...key];
    const id = scope === undefined ? own : [name, "scope", scope, ...(sharing ? [] : [origin])];
    if (ofProcess === undefined || id === undefined || id === "") return make(scope);
    // A name is the origin's, whichever way a request takes.
    const find = ofProcess(sharing ?? (scope === undefined ? fetch : undefined));
    const account = find(JSON.stringify(id), clock.now(), (memory) => make(scope, memory));
    if (scope !== undefined) sameNumbers(account.budget, scope, numbers);
    return account;
  };
};
