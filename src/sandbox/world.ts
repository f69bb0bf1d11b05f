import { ConfigurationError } from "../errors.ts";
import { mustBeOneOf } from "../runtime/rules.ts";
import { settingsOf } from "./check-options.ts";
import { createFaultPlans } from "./fault-plan.ts";
import { createJournal } from "./journal.ts";
import { createKeys, defaultWorkspace } from "./keys.ts";
import { createMetersFor, type OwnedMeters } from "./limits.ts";
import type { SandboxOptions } from "./options.ts";
import { createRandom } from "./random.ts";
import type { SandboxClock } from "./sandbox-clock.ts";
import { createWorkspace, type Services, type Workspace } from "./store/workspace.ts";

/** Creates a world with the settings of the options and no records. */
export const createWorld = (options: SandboxOptions, clock: SandboxClock, changed: () => void) => {
  const random = createRandom(options.seed);
  const meters: OwnedMeters = [];
  const metersFor = createMetersFor(options.limits ?? {}, meters);
  const ids = { count: 0 };
  // A counter makes ids unique, a random part hides their order.
  const newId = (prefix: string): string => {
    ids.count += 1;
    const tail = Math.floor(random() * 36 ** 5).toString(36);
    return `${prefix}_${tail.padStart(5, "0")}${ids.count.toString(36)}`;
  };
  const services: Services = { clock, metersFor, newId, changed, order: options.order };
  const keys = createKeys(options.apiKeys, metersFor);
  const named = [
    ...Object.keys(options.workspaces ?? {}),
    ...[...keys.values()].map(({ workspace }) => workspace),
  ];
  const workspaces = new Map<string, Workspace>();
  for (const name of new Set([defaultWorkspace, ...named]))
    workspaces.set(name, createWorkspace(name, settingsOf(options, name), services));
  /** @throws ConfigurationError for a workspace that neither an option nor a key names. */
  const workspaceNamed = (name = defaultWorkspace): Workspace => {
    const workspace = workspaces.get(name);
    if (workspace !== undefined) return workspace;
    throw new ConfigurationError(
      `sandbox: ${mustBeOneOf(...workspaces.keys())(name, "workspace").join("; ")}`,
    );
  };
  const journal = createJournal(options.keepRequests ?? 10_000, changed);
  const plans = createFaultPlans(random);
  return {
    journal,
    plans,
    random,
    /** How many ids the sandbox has created. A loaded snapshot sets the count. */
    ids,
    keys,
    meters,
    /** The workspaces by name; `default` comes first. */
    workspaces,
    workspaceNamed,
  };
};

/** Everything in a sandbox that a reset replaces. Its clock and servers stay. */
export type World = ReturnType<typeof createWorld>;
