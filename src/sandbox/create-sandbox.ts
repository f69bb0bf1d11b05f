import { systemClock } from "../runtime/clock.ts";
import { assertNode } from "../runtime/node-version.ts";
import { mustBeBoolean, refuseSetup } from "../runtime/rules.ts";
import { createApp } from "./app.ts";
import { checkArgument, checkedOptions } from "./check-options.ts";
import { createControls, type SandboxControls } from "./controls.ts";
import type { FaultOptions, PlannedFault } from "./faults.ts";
import { createFetch } from "./fetch.ts";
import { defaultWorkspace } from "./keys.ts";
import { listen } from "./listen.ts";
import { createHandlers, type MswHandlers } from "./msw.ts";
import type { Listening, ListenOptions, SandboxOptions } from "./options.ts";
import { createSandboxClock } from "./sandbox-clock.ts";
import { createSnapshots } from "./snapshot.ts";
import { type SandboxState, stateOf } from "./state.ts";
import { createWaiting, type WaitFor } from "./wait-for.ts";
import { createWorkbench } from "./workbench/workbench.ts";
import { createWorld, type World } from "./world.ts";

assertNode();

/** The service, simulated in memory. */
export interface Sandbox extends SandboxControls {
  /** A `fetch` that needs no sockets and answers for any host: `new Client({ fetch: sandbox.fetch, … })`. */
  readonly fetch: typeof fetch;
  /**
   * Request handlers for MSW 2 and 3: `setupServer(...sandbox.handlers)`. They answer requests below the option
   * `baseUrl`. Without it, they answer requests that carry one of the sandbox's keys. Other requests go to your own
   * handlers.
   */
  readonly handlers: MswHandlers;
  /** The records of the workspace `default`, and all requests. */
  readonly state: SandboxState;
  /**
   * Returns the state of a workspace by its name.
   *
   * @throws ConfigurationError for a workspace that neither an option nor a key names.
   * @example
   * ```ts
   * console.log(sandbox.stateOf("default").contacts.length);
   * ```
   */
  stateOf(workspace: string): SandboxState;
  /**
   * Waits for an `email`, `contact`, `event` or `request` with these fields, for work that your code does in the
   * background. Existing records count, too.
   *
   * @throws Error when none arrived within `timeoutMs` (default 5,000).
   * @example
   * ```ts
   * const { subject } = await sandbox.waitFor("email", { to: "ada@example.com" }, { timeoutMs: 1_000 });
   * console.log(subject);
   * ```
   */
  readonly waitFor: WaitFor;
  /**
   * Starts an HTTP server, with a page at `/` that shows the received requests. Only the server keeps the process
   * alive.
   *
   * @throws ConfigurationError for an invalid option; the system's own error when the port is in use.
   * @example
   * ```ts
   * const { url, close } = await sandbox.listen({ port: 4010 });
   * console.log(url);
   * await close();
   * ```
   */
  listen(options?: ListenOptions): Promise<Listening>;
  /**
   * Makes future requests fail.
   *
   * @throws ConfigurationError for a misspelled name or a wrong value.
   * @example
   * ```ts
   * sandbox.fail({ operation: "emails.send", with: "reset-after-apply" });
   * sandbox.fail({ operation: "contacts.list", nth: 2, times: 3, with: { status: 503, retryAfter: 1 } });
   * ```
   */
  fail(options: FaultOptions): PlannedFault;
  /**
   * Moves the sandbox's clock forward by milliseconds, at least 0. Windows of limits end, scheduled emails are sent,
   * and delayed responses arrive.
   *
   * @throws ConfigurationError for any other value.
   * @example
   * ```ts
   * sandbox.advance(86_400_000); // a day
   * ```
   */
  advance(ms: number): void;
  /**
   * Stops the sandbox's clock; `false` starts it again. `advance` also moves a stopped clock. Responses that take time
   * (`latencyMs`) wait for this clock.
   *
   * @throws ConfigurationError unless the argument is true or false.
   * @example
   * ```ts
   * sandbox.freeze();
   * ```
   */
  freeze(isFrozen?: boolean): void;
  /**
   * Resets the sandbox: removes records, requests and planned faults, restores options and keys, and starts the clock
   * again.
   *
   * @example
   * ```ts
   * sandbox.reset(); // for example after each test
   * ```
   */
  reset(): void;
  /**
   * Writes all records to a JSON file: contacts, companies, lists, events, emails, scheduled emails, and how far the
   * clock is ahead. The file does not contain keys, requests, planned faults or used limits.
   *
   * @throws the system's own error when the file cannot be written.
   * @example
   * ```ts
   * await sandbox.save("fixture.json");
   * ```
   */
  save(file: string): Promise<void>;
  /**
   * Resets the sandbox and loads a file that `save` wrote. Scheduled emails that are due by now are sent. In a file
   * that you write yourself, a contact needs only its `email`.
   *
   * @throws ConfigurationError naming the file and all its faults; the sandbox is then unchanged.
   * @example
   * ```ts
   * await sandbox.load("fixture.json");
   * ```
   */
  load(file: string): Promise<void>;
}

/**
 * Creates a sandbox. It starts no server until `listen`.
 *
 * @throws ConfigurationError naming every fault of the options at once: unknown names and wrong values.
 * @example
 * ```ts
 * import { Client } from "touchpoint-sdk";
 * import { createSandbox } from "touchpoint-sdk/sandbox";
 *
 * const own = createSandbox({ apiKeys: ["test-key"] });
 * const tested = new Client({ apiKey: "test-key", baseUrl: "http://localhost", fetch: own.fetch });
 * await tested.contacts.create({ email: "ada@example.com" });
 * console.log(own.state.contacts.length); // 1
 * ```
 */
export const createSandbox = (input: SandboxOptions = {}): Sandbox => {
  const options = checkedOptions(input);
  const base = options.clock ?? systemClock;
  const clock = createSandboxClock(base);
  const stateNamed = (name: string): SandboxState => stateOf(() => world, name);
  const { waitFor, recheck } = createWaiting(stateNamed, base);
  let version = 0;
  const changed = (): void => {
    version += 1;
    recheck();
  };
  let world = createWorld(options, clock, changed);
  const app = createApp(() => world, clock, options);
  const sandboxFetch = createFetch(app, options.baseUrl);
  let handlers: MswHandlers | undefined;

  const startAnew = (aheadMs: number, fill: (next: World) => void): void => {
    const next = createWorld(options, clock, changed);
    const before = clock.aheadMs;
    clock.setAhead(aheadMs);
    try {
      fill(next);
    } catch (error) {
      clock.setAhead(before);
      throw error;
    }
    // Cancel the timers of the old world, which would still send its scheduled emails.
    for (const workspace of world.workspaces.values()) workspace.scheduled.clear();
    world = next;
    changed();
  };
  const snapshots = createSnapshots(() => world, clock, startAnew);
  const sandbox: Sandbox = {
    fetch: sandboxFetch,
    get handlers() {
      handlers ??= createHandlers(sandboxFetch, options.baseUrl, (key) => world.keys.has(key));
      return handlers;
    },
    state: stateNamed(defaultWorkspace),
    stateOf: stateNamed,
    waitFor,
    listen: async (where) => {
      checkArgument("listen", where ?? {});
      const workbench = () =>
        createWorkbench({ world: () => world, version: () => version, clock, sandbox, snapshots });
      return listen({ app, workbench }, where ?? {});
    },
    fail: (fault) => world.plans.add(fault),
    advance: (ms) => clock.advance(ms),
    freeze: (isFrozen = true) => {
      refuseSetup("sandbox.freeze", mustBeBoolean(isFrozen, "isFrozen"));
      clock.freeze(isFrozen);
    },
    reset: () => {
      clock.freeze(false);
      startAnew(0, () => {});
    },
    save: snapshots.save,
    load: snapshots.load,
    ...createControls(() => world),
  };
  return sandbox;
};
