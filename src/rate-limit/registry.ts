import { ConfigurationError } from "../errors.ts";
import type { Settings } from "../options/options.ts";
import type { DayCount, LimitNumbers } from "../options/shared-limits.ts";
import { version } from "../options/version.ts";
import type { Clock } from "../runtime/clock.ts";
import { ownServiceOf } from "../runtime/own-service.ts";
import type { BudgetName } from "../service/define.ts";
import type { Budget } from "./budget.ts";

/**
 * Makes a budget; `scope` is the name under which it is counted, `day` what an earlier one of the same limit counted. It
 * adds itself to `kept` when it is used.
 */
type MakeBudget = (scope?: string, day?: DayCount, remembered?: Set<Budget>) => Budget;

/** A limit; `sending` has no numbers, only the pause of a mail account that is full: emails are still scheduled then. */
export type LimitName = BudgetName | "sending";

/** Finds a budget of the process, or makes it. */
export type FindBudget = (name: LimitName, numbers: LimitNumbers, make: MakeBudget) => Budget;

/** What says with whom a client counts. */
type Client = Pick<
  Settings,
  "apiKey" | "origin" | "basePath" | "limitScopes" | "sharing" | "limits" | "fetch"
>;

const sweepMs = 60_000;

/**
 * Keeps budgets for as long as they hold anything, whether a client is open or not: all of a budget while it is in use
 * or paused, and then only its day. What has expired is looked for once a minute, when a client is made; no timer keeps
 * the process alive.
 */
const newMemory = () => {
  const entries = new Map<string, { day: DayCount; budget: WeakRef<Budget> }>();
  const remembered = new Set<Budget>();
  let sweptAt = Number.NEGATIVE_INFINITY;
  const sweep = (now: number): void => {
    // Clients may have different clocks.
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

/** The memory of a sandbox, or of shared limits; without one, that of all other clients. */
type MemoryOf = (owner?: object) => ReturnType<typeof newMemory>;

// Registered, so that the ESM and the CommonJS copy of the package in one process share the budgets of a key. Two versions
// do not: one could not call what the other has made.
const registryKey = Symbol.for(`touchpoint-sdk.budgets ${version}`);

const newMemories = (): MemoryOf => {
  // Forgotten with its owner: no later client can have the same one. The memory of all others is that of the map itself.
  const ofOwners = new WeakMap<object, ReturnType<MemoryOf>>();
  return (owner = ofOwners) => {
    const memory = ofOwners.get(owner) ?? newMemory();
    ofOwners.set(owner, memory);
    return memory;
  };
};

const memories = (): MemoryOf => {
  // One non-enumerable property, created with the first client; a closure, so that no listing shows a key.
  const shared = globalThis as { [registryKey]?: MemoryOf };
  shared[registryKey] ??
    Object.defineProperty(shared, registryKey, { value: newMemories(), configurable: true });
  return shared[registryKey] ?? newMemories();
};

// workerd ends a timer together with the request that created it, and one request cannot wake another.
const isWorkerd = (): boolean => {
  // Node 20 has no navigator, and neither do its types.
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  return Object(navigator).userAgent === "Cloudflare-Workers";
};

const inWords = ({ limit: { max, windowMs }, maxPerDay }: LimitNumbers): string =>
  `${max} per ${windowMs} ms and ${maxPerDay} per day`;

/** Refuses other numbers than those of the client that opened the budget. */
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
 * The budgets of a client: those that `limitScopes` names are shared by all clients of the origin (or, over Redis, of
 * the Redis) that name them so; the others by all clients of the key with the same base URL, or by the id of the Redis.
 * What carries the requests makes no difference, but each sandbox is a service of its own. Clients with `limits: false`
 * share only pauses. A key function may return any key, so without `limitScopes.requests` its client shares only what it
 * names. In workerd every client has its own.
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
    // Shared limits have the numbers of their store.
    if (scope !== undefined || sharing === undefined) checkNumbers(budget, { scope, name, numbers });
    return budget;
  };
};
