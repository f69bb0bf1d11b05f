import { ConfigurationError } from "../errors.ts";
import type { Settings } from "../options/options.ts";
import type { DayCount, LimitNumbers } from "../options/shared-limits.ts";
import { version } from "../options/version.ts";
import type { Clock } from "../runtime/clock.ts";
import { ownServiceOf } from "../runtime/own-service.ts";
import type { BudgetName } from "../service/define.ts";
import type { Budget } from "./budget.ts";

/**
 * Creates a budget. `scope` is its name in `limitScopes`. `day` is the daily count of an earlier budget of the same
 * limit. The budget adds itself to `remembered` when it is used or paused.
 */
type MakeBudget = (scope?: string, day?: DayCount, remembered?: Set<Budget>) => Budget;

/**
 * A limit. `sending` has no numbers: it exists for the long pause of a mail account at its daily limit, during which
 * emails can still be scheduled.
 */
export type LimitName = BudgetName | "sending";

/** Finds a budget of the process, or creates one. */
export type FindBudget = (name: LimitName, numbers: LimitNumbers, make: MakeBudget) => Budget;

/** The settings that decide with which other clients a client shares its budgets. */
type Client = Pick<
  Settings,
  "apiKey" | "origin" | "basePath" | "limitScopes" | "sharing" | "limits" | "fetch"
>;

const sweepMs = 60_000;

/**
 * Creates a memory of budgets that is independent of whether a client is open. A budget stays while it is in use or
 * paused. After that, only its daily count stays, until it has expired. Expired entries are removed when a client is
 * created, at most once a minute, so that no timer is needed.
 */
const newMemory = () => {
  const entries = new Map<string, { day: DayCount; budget: WeakRef<Budget> }>();
  const remembered = new Set<Budget>();
  let sweptAt = Number.NEGATIVE_INFINITY;
  const sweep = (now: number): void => {
    // The absolute difference, because clients may have different clocks.
    if (Math.abs(now - sweptAt) < sweepMs) return;
    sweptAt = now;
    for (const budget of remembered) if (budget.isIdle) remembered.delete(budget);
    for (const [id, { day, budget }] of entries)
      if (day.used === 0 && budget.deref() === undefined) entries.delete(id);
  };
  return (
    id: string,
    now: number,
    make: (day: DayCount | undefined, remembered: Set<Budget>) => Budget,
  ): Budget => {
    sweep(now);
    const before = entries.get(id);
    const existing = before?.budget.deref();
    if (existing !== undefined) return existing;
    const budget = make(before?.day, remembered);
    entries.set(id, { day: budget.day, budget: new WeakRef(budget) });
    return budget;
  };
};

/** Returns the memory of a sandbox or of shared limits; without `owner`, the memory of all other clients. */
type MemoryOf = (owner?: object) => ReturnType<typeof newMemory>;

// A registered symbol, so that the ESM and CommonJS copies of the package in one process share the budgets of an API
// key. Two versions of the package share nothing, because the budgets of one version may not work with the other.
const registryKey = Symbol.for(`touchpoint-sdk.budgets ${version}`);

const newMemories = (): MemoryOf => {
  // A memory is dropped with its owner, because no later client can have the same owner. Clients without an owner use
  // the memory whose owner is the map itself.
  const ofOwners = new WeakMap<object, ReturnType<MemoryOf>>();
  return (owner = ofOwners) => {
    const memory = ofOwners.get(owner) ?? newMemory();
    ofOwners.set(owner, memory);
    return memory;
  };
};

const memories = (): MemoryOf => {
  // The property is not enumerable, and is created with the first client. Its value is a function, so that an
  // inspection of `globalThis` shows no API key.
  const shared = globalThis as { [registryKey]?: MemoryOf };
  shared[registryKey] ??
    Object.defineProperty(shared, registryKey, { value: newMemories(), configurable: true });
  return shared[registryKey] ?? newMemories();
};

// In workerd, a timer ends with the request that created it, and one request cannot wake another.
const isWorkerd = (): boolean => {
  // Node 20 has no navigator, and neither do its types.
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  return Object(navigator).userAgent === "Cloudflare-Workers";
};

const inWords = ({ limit: { max, windowMs }, maxPerDay }: LimitNumbers): string =>
  `${max} per ${windowMs} ms and ${maxPerDay} per day`;

/** Throws if the numbers differ from those of the client that created the budget. */
const checkNumbers = (
  { limit, day }: Budget,
  {
    scope,
    name,
    numbers,
  }: { readonly scope: string | undefined; readonly name: LimitName; readonly numbers: LimitNumbers },
): void => {
  const [there, here] = [inWords({ limit, maxPerDay: day.max }), inWords(numbers)];
  if (there === here) return;
  const what = scope === undefined ? `limits: the limit ${name} of this key` : `limitScopes: "${scope}"`;
  throw new ConfigurationError(
    `${what} is ${there} in another client, but ${here} in this one. Give both clients the same numbers`,
  );
};

/**
 * Returns a function that finds the budgets of a client within the process:
 *
 * - Limits without a scope: clients with the same API key and base URL share a budget.
 * - Limits that `limitScopes` names: clients of the same origin that use the same name share a budget.
 * - With shared limits, key, URL and origin do not matter: clients with the same `SharedLimits` object share a budget.
 *
 * `fetch` makes no difference, except that each sandbox is a separate service. Clients with `limits: false` share only
 * pauses. If `apiKey` is a function, its key is not known in advance. For such a client, the name in
 * `limitScopes.requests` stands for the key in all limits. Without that name, it shares only limits with a scope. In
 * workerd, every client has its own budgets.
 */
export const budgetsOf = (client: Client, clock: Clock): FindBudget => {
  const { apiKey, origin, basePath, limitScopes, sharing, limits, fetch } = client;
  const ofProcess = isWorkerd() ? undefined : memories();
  const key = typeof apiKey === "string" ? [apiKey] : limitScopes.requests && [limitScopes.requests, "named"];
  return (name, numbers, make) => {
    const scope = limitScopes[name === "sending" ? "emails" : name];
    const own = sharing ? [name] : key && [name, origin, basePath, limits !== false, ...key];
    const id = scope === undefined ? own : [name, "scope", scope, ...(sharing ? [] : [origin])];
    if (ofProcess === undefined || id === undefined || id === "") return make(scope);
    const find = ofProcess(sharing ?? ownServiceOf(fetch));
    const budget = find(JSON.stringify(id), clock.now(), (day, remembered) => make(scope, day, remembered));
    // Without a scope, clients with the same shared limits always have the same numbers.
    if (scope !== undefined || sharing === undefined) checkNumbers(budget, { scope, name, numbers });
    return budget;
  };
};
