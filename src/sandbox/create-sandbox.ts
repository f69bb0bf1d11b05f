import { systemClock } from "../runtime/clock.ts";
import type { App } from "./app.ts";
import { checkedOptions, checkedPlace } from "./check-options.ts";
import { flag, refuse } from "./checks.ts";
import { createControls, type SandboxControls } from "./controls.ts";
import type { FaultOptions, PlannedFault } from "./faults.ts";
import { createFetch } from "./fetch.ts";
import { defaultWorkspace } from "./keys.ts";
import { listen } from "./listen.ts";
import { createHandlers, isOwnRequest, type MswHandlers } from "./msw.ts";
import type { Listening, ListenOptions, SandboxOptions } from "./options.ts";
import { createSandboxClock } from "./sandbox-clock.ts";
import { checkedSnapshot, restore, snapshotOf } from "./snapshot.ts";
import { loadFrom, type Snapshots, saveTo } from "./snapshot-file.ts";
import { type SandboxState, stateOf } from "./state.ts";
import { createWorkbench } from "./workbench/workbench.ts";
import { createWorld, type World } from "./world.ts";

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
  /**
   * Stops the sandbox's clock, or with `false` lets it go on from where it stopped; `advance` moves it all the same.
   * Answers that take time (`latencyMs`) wait for it too.
   *
   * @throws ConfigurationError for anything but true and false.
   */
  freeze(isFrozen?: boolean): void;
  /** Makes it as new: no records, requests or planned faults, options and keys as given, the clock back and running. */
  reset(): void;
  /**
   * Writes all records to a file as JSON: contacts, companies, lists, events, emails, scheduled emails, and how far the
   * clock is ahead. Keys, requests, planned faults and used limits are not in it.
   *
   * @throws the system's own error when the file cannot be written.
   */
  save(file: string): Promise<void>;
  /**
   * Resets the sandbox and puts in what a file of `save` holds; emails that have become due go out. A contact written
   * by hand needs its `email` only.
   *
   * @throws ConfigurationError naming the file and every fault of it; the sandbox is then as before.
   */
  load(file: string): Promise<void>;
}

const build = (options: SandboxOptions): Sandbox => {
  const clock = createSandboxClock(options.clock ?? systemClock);
  let world = createWorld(options, clock);
  const app: App = (incoming) => world.app(incoming);
  const sandboxFetch = createFetch(app, clock, options.baseUrl);
  let handlers: MswHandlers | undefined;

  const startAnew = (aheadMs: number, fill: (next: World) => void): void => {
    const next = createWorld(options, clock);
    const before = clock.aheadMs;
    clock.setAhead(aheadMs);
    try {
      fill(next);
    } catch (error) {
      clock.setAhead(before);
      throw error;
    }
    // Else its scheduled emails would still be waited for.
    for (const workspace of world.workspaces.values()) workspace.scheduled.clear();
    world = next;
  };
  const snapshots: Snapshots = {
    take: () => snapshotOf(world, clock.aheadMs),
    restore: (value) => {
      const snapshot = checkedSnapshot(value);
      startAnew(snapshot.aheadMs ?? 0, (next) => restore(next, snapshot));
    },
  };
  const reset = (): void => {
    clock.freeze(false);
    startAnew(0, () => {});
  };
  const stateNamed = (name: string): SandboxState => {
    world.workspaceNamed(name);
    return stateOf(
      () => world.workspaceNamed(name),
      () => world.journal,
    );
  };
  const sandbox: Sandbox = {
    fetch: sandboxFetch,
    get handlers() {
      handlers ??= createHandlers(sandboxFetch, (request) =>
        isOwnRequest(request, options.baseUrl, world.keys),
      );
      return handlers;
    },
    state: stateNamed(defaultWorkspace),
    stateOf: stateNamed,
    listen: async (where) =>
      listen(
        { app, clock, workbench: () => createWorkbench({ world: () => world, clock, sandbox, snapshots }) },
        checkedPlace(where),
      ),
    fail: (fault) => world.plans.add(fault),
    advance: (ms) => clock.advance(ms),
    freeze: (isFrozen = true) => {
      refuse("sandbox.freeze", flag(isFrozen, "isFrozen"));
      clock.freeze(isFrozen);
    },
    reset,
    save: (file) => saveTo(file, snapshots),
    load: (file) => loadFrom(file, snapshots),
    ...createControls(() => world),
  };
  return sandbox;
};

/**
 * Builds a sandbox; nothing is opened or started until `listen`.
 *
 * @throws ConfigurationError naming every fault of the options at once: names that do not exist, values that cannot be.
 */
export const createSandbox = (options: SandboxOptions = {}): Sandbox => build(checkedOptions(options));
