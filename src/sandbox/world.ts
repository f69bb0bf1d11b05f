import { ConfigurationError } from "../errors.ts";
import { type App, createApp } from "./app.ts";
import { settingsOf } from "./check-options.ts";
import { oneOf } from "./checks.ts";
import { createFaultPlans, type FaultPlans } from "./fault-plan.ts";
import { createJournal, type Journal } from "./journal.ts";
import { type ApiKey, createKeys, defaultWorkspace } from "./keys.ts";
import { createLatency } from "./latency.ts";
import { createMetersFor } from "./limits.ts";
import type { SandboxOptions } from "./options.ts";
import { createIds, createRandom, type Ids } from "./random.ts";
import type { SandboxClock } from "./sandbox-clock.ts";
import { createWorkspace, type Services, type Workspace } from "./store/workspace.ts";
import type { LimitName, Meter } from "./window.ts";

/** One owner of limits: a key, a workspace or a mail account. */
interface MeterOwner {
  readonly name: string;
  readonly meters: ReadonlyMap<LimitName, Meter>;
}

/** Everything in a sandbox that a reset replaces. Its clock and servers stay. */
export interface World {
  readonly app: App;
  readonly journal: Journal;
  readonly plans: FaultPlans;
  readonly ids: Ids;
  readonly keys: ReadonlyMap<string, ApiKey>;
  readonly owners: readonly MeterOwner[];
  /** By name; the `default` one comes first. */
  readonly workspaces: ReadonlyMap<string, Workspace>;
  /** @throws ConfigurationError for a workspace that neither an option nor a key names. */
  workspaceNamed(name: string): Workspace;
}

// Numbered, not named, so that the page never shows a key.
const keyOwners = (keys: ReadonlyMap<string, ApiKey>): MeterOwner[] =>
  [...keys.values()].map(({ meters }, index) => ({ name: `key ${index + 1}`, meters }));

const workspaceOwners = ({ name, meters, mailAccounts }: Workspace): MeterOwner[] => [
  { name: `workspace ${name}`, meters },
  ...[...mailAccounts.values()].map((account) => ({
    name: `mail account ${account.id}${name === defaultWorkspace ? "" : ` of ${name}`}`,
    meters: account.meters,
  })),
];

/** Every workspace that an option or a key names. */
const workspaceNames = (options: SandboxOptions, keys: ReadonlyMap<string, ApiKey>): string[] => [
  ...new Set([
    defaultWorkspace,
    ...Object.keys(options.workspaces ?? {}),
    ...[...keys.values()].map(({ workspace }) => workspace),
  ]),
];

/** Creates a world with the settings of the options and no records. */
export const createWorld = (options: SandboxOptions, clock: SandboxClock, changed: () => void): World => {
  const random = createRandom(options.seed);
  const metersFor = createMetersFor(options.limits ?? {});
  const ids = createIds(random);
  const services: Services = {
    clock,
    metersFor,
    newId: ids.next,
    changed,
    listing: { order: options.order ?? "oldest-first", search: options.search ?? "address" },
  };
  const keys = createKeys(options.apiKeys, metersFor);
  const workspaces = new Map(
    workspaceNames(options, keys).map((name) => [
      name,
      createWorkspace(name, settingsOf(options, name), services),
    ]),
  );
  const workspaceNamed = (name: string): Workspace => {
    const workspace = workspaces.get(name);
    if (workspace !== undefined) return workspace;
    throw new ConfigurationError(`sandbox: ${oneOf(...workspaces.keys())(name, "workspace").join("; ")}`);
  };
  const journal = createJournal(options.keepRequests ?? 10_000, changed);
  const plans = createFaultPlans(random);
  const latency = createLatency(options.latencyMs, clock, random);
  return {
    app: createApp({ options, clock, keys, workspaceOf: workspaceNamed, plans, journal, latency }),
    journal,
    plans,
    ids,
    keys,
    owners: [...keyOwners(keys), ...[...workspaces.values()].flatMap(workspaceOwners)],
    workspaces,
    workspaceNamed,
  };
};
