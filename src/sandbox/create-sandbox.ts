import { systemClock } from "../runtime/clock.ts";
import { createApp } from "./app.ts";
import { checkedOptions, checkedPlace, settingsOf } from "./check-options.ts";
import { oneOf, refuse } from "./checks.ts";
import { createControls, type SandboxControls } from "./controls.ts";
import type { FaultOptions, PlannedFault } from "./faults/fault.ts";
import { createFaultPlans } from "./faults/plans.ts";
import { createFetch } from "./http/fetch.ts";
import { type Listening, type ListenOptions, listen } from "./http/listen.ts";
import { createJournal } from "./journal.ts";
import { type ApiKey, createKeys, defaultWorkspace } from "./keys.ts";
import { createLatency } from "./latency.ts";
import { createMetersFor } from "./limits/limits.ts";
import { createHandlers, isOwnRequest, type MswHandlers } from "./msw.ts";
import type { SandboxOptions } from "./options.ts";
import { type MeterOwner, renderPage } from "./page/render-page.ts";
import { createIds, createRandom } from "./random.ts";
import { createSandboxClock } from "./sandbox-clock.ts";
import { type SandboxState, stateOf } from "./state.ts";
import { createWorkspace, type Services, type Workspace } from "./store/workspace.ts";

/** The whole service in memory. */
export interface Sandbox extends SandboxControls {
  /** A fetch without sockets that answers for any host: `new Client({ fetch: sandbox.fetch, … })`. */
  readonly fetch: typeof fetch;
  /**
   * MSW request handlers, for `setupServer(...sandbox.handlers)`; needs msw 2. They answer requests below the option
   * `baseUrl`, or without it those that carry one of the keys, and leave every other to the handlers after them.
   */
  readonly handlers: MswHandlers;
  /** The `default` workspace, and all requests. */
  readonly state: SandboxState;
  /** The state of a workspace by name. @throws ConfigurationError for one that neither an option nor a key names. */
  stateOf(workspace: string): SandboxState;
  /**
   * Starts a real HTTP server, with a page at `/` that shows what came in; only this keeps the process alive.
   *
   * @throws ConfigurationError for a wrong option; a port that is taken rejects with the system's own error.
   */
  listen(options?: ListenOptions): Promise<Listening>;
  /** Plans a fault for coming requests. @throws ConfigurationError for a plan with a misspelt name or a wrong value. */
  fail(options: FaultOptions): PlannedFault;
  /**
   * Moves the sandbox's clock on by milliseconds, at least 0: windows move, scheduled emails go out, waiting answers
   * come.
   *
   * @throws ConfigurationError for anything else.
   */
  advance(ms: number): void;
}

// Numbered, not named: a page that is looked at over a shoulder shows no key.
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

const build = (options: SandboxOptions): Sandbox => {
  const random = createRandom(options.seed);
  const clock = createSandboxClock(options.clock ?? systemClock);
  const metersFor = createMetersFor(options.limits ?? {});
  const services: Services = {
    clock,
    metersFor,
    newId: createIds(random),
    listing: { order: options.order ?? "oldest-first", search: options.search ?? "address" },
  };
  const workspaces = new Map<string, Workspace>();
  const workspaceOf = (name: string): Workspace => {
    let workspace = workspaces.get(name);
    if (workspace === undefined) {
      workspace = createWorkspace(name, settingsOf(options, name), services);
      workspaces.set(name, workspace);
    }
    return workspace;
  };
  const keys = createKeys(options.apiKeys, metersFor);
  const names = workspaceNames(options, keys);
  const workspaceNamed = (name: string): Workspace => {
    refuse("sandbox", oneOf(...names)(name, "workspace"));
    return workspaceOf(name);
  };
  const journal = createJournal(options.keepRequests ?? 10_000);
  const plans = createFaultPlans(random);
  const latency = createLatency(options.latencyMs, clock, random);
  const app = createApp({ options, clock, keys, workspaceOf, plans, journal, latency });

  const page = (): string =>
    renderPage({
      workspaces: new Map([...workspaces].map(([name, one]) => [name, stateOf(one, journal)])),
      journal,
      owners: [...keyOwners(keys), ...[...workspaces.values()].flatMap(workspaceOwners)],
      now: clock.now(),
      wallTime: clock.wallTime(),
    });
  const sandboxFetch = createFetch(app, clock, options.baseUrl);
  let handlers: MswHandlers | undefined;

  return {
    fetch: sandboxFetch,
    get handlers() {
      handlers ??= createHandlers(sandboxFetch, isOwnRequest(options.baseUrl, keys));
      return handlers;
    },
    state: stateOf(workspaceOf(defaultWorkspace), journal),
    stateOf: (name) => stateOf(workspaceNamed(name), journal),
    listen: async (where) => listen({ app, clock, page }, checkedPlace(where)),
    fail: (fault) => plans.add(fault),
    advance: (ms) => clock.advance(ms),
    ...createControls(workspaceNamed, keys),
  };
};

/**
 * Builds a sandbox; nothing is opened or started until `listen`.
 *
 * @throws ConfigurationError naming every fault of the options at once: names that do not exist, values that cannot be.
 */
export const createSandbox = (options: SandboxOptions = {}): Sandbox => build(checkedOptions(options));
