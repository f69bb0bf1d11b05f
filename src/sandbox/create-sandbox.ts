import { systemClock } from "../clock.ts";
import { createApp } from "./app.ts";
import type { FaultOptions, PlannedFault } from "./faults/fault.ts";
import { createFaultPlans } from "./faults/plans.ts";
import { createFetch } from "./http/fetch.ts";
import { type Listening, type ListenOptions, listen } from "./http/listen.ts";
import { createJournal } from "./journal.ts";
import { type ApiKey, changeKey, createKeys, defaultWorkspace } from "./keys.ts";
import { createLatency } from "./latency.ts";
import { createMetersFor } from "./limits/limits.ts";
import { createHandlers, type MswHandlers } from "./msw.ts";
import type { ApiKeyOptions, SandboxOptions } from "./options.ts";
import { type MeterOwner, renderPage } from "./page/render-page.ts";
import { createIds, createRandom } from "./random.ts";
import { createSandboxClock } from "./sandbox-clock.ts";
import { seedContacts } from "./seed.ts";
import { type SandboxState, stateOf } from "./state.ts";
import type { MailAccount } from "./store/mail-account.ts";
import type { ContactRecord } from "./store/records.ts";
import { addContact, createWorkspace, type Services, type Workspace } from "./store/workspace.ts";

/** A contact to put in directly. */
export type SeedContact = Partial<Omit<ContactRecord, "id">> & { readonly email: string };

/** The whole service in memory. */
export interface Sandbox {
  /** A fetch without sockets that answers for any host. */
  readonly fetch: typeof fetch;
  /** MSW request handlers, for `setupServer(...sandbox.handlers)`; needs msw 2. */
  readonly handlers: MswHandlers;
  /** The `default` workspace, and all requests. */
  readonly state: SandboxState;
  /** The state of a workspace by name. */
  stateOf(workspace: string): SandboxState;
  /** Starts a real HTTP server; only this keeps the process alive. */
  listen(options?: ListenOptions): Promise<Listening>;
  /** Plans a fault for coming requests. @throws ConfigurationError for a plan with a misspelt name or a wrong value. */
  fail(options: FaultOptions): PlannedFault;
  /** Moves the sandbox's clock on: windows move, scheduled emails go out, waiting answers come. */
  advance(ms: number): void;
  /** Puts realistic contacts into the `default` workspace; `change` may set fields of each. */
  seedContacts(count: number, change?: (index: number) => Partial<SeedContact>): void;
  /** Adds one contact, as a person at the service's website would. */
  addContact(contact: SeedContact, workspace?: string): Readonly<ContactRecord>;
  /** Removes one contact, as a person at the service's website would; false when there is none. */
  removeContact(id: string, workspace?: string): boolean;
  /** Connects, disconnects or breaks a mail account; `failing: null` mends it. */
  updateMailAccount(id: string, change: MailAccountChange, workspace?: string): void;
  /** Puts an address on the do-not-email list, or takes it off. */
  doNotEmail(address: string, isOnList?: boolean, workspace?: string): void;
  /** Changes a key: revokes it, narrows its scopes, moves its expiry. */
  updateKey(key: string, change: Partial<Omit<ApiKeyOptions, "key" | "workspace">>): void;
}

// Numbered, not named: a page that is looked at over a shoulder shows no key.
const keyOwners = (keys: ReadonlyMap<string, ApiKey>): MeterOwner[] =>
  [...keys.values()].map(({ meters }, index) => ({ name: `key ${index + 1}`, meters }));

const workspaceOwners = ({ name, meters, mailAccounts }: Workspace): MeterOwner[] => [
  { name: `workspace ${name}`, meters },
  ...[...mailAccounts.values()].map((account) => ({
    name: `mail account ${account.id}`,
    meters: account.meters,
  })),
];

/** What may change about a mail account. */
export interface MailAccountChange {
  readonly connected?: boolean;
  readonly failing?: string | null;
}

const changeAccount = (account: MailAccount | undefined, change: MailAccountChange): void => {
  if (account === undefined) throw new RangeError("The sandbox has no such mail account.");
  account.isConnected = change.connected ?? account.isConnected;
  if (change.failing !== undefined) account.failing = change.failing ?? undefined;
};

const keyNamed = (keys: ReadonlyMap<string, ApiKey>, name: string): ApiKey => {
  const key = keys.get(name);
  if (key === undefined) throw new RangeError("The sandbox has no such key.");
  return key;
};

/**
 * Builds a sandbox; nothing is opened or started until `listen`.
 *
 * @throws RangeError for an option that cannot be.
 */
export const createSandbox = (options: SandboxOptions = {}): Sandbox => {
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
      const settings = name === defaultWorkspace ? options : (options.workspaces?.[name] ?? {});
      workspace = createWorkspace(name, settings, services);
      workspaces.set(name, workspace);
    }
    return workspace;
  };
  const keys = createKeys(options.apiKeys, metersFor);
  const journal = createJournal(options.keepRequests ?? 10_000);
  const plans = createFaultPlans(random);
  const latency = createLatency(options.latencyMs, clock, random);
  const app = createApp({ options, clock, keys, workspaceOf, plans, journal, latency });

  const page = (): string =>
    renderPage({
      state: stateOf(workspaceOf(defaultWorkspace), journal),
      owners: [...keyOwners(keys), ...[...workspaces.values()].flatMap(workspaceOwners)],
      now: clock.now(),
      wallTime: clock.wallTime(),
    });
  const sandboxFetch = createFetch(app, clock);
  let handlers: MswHandlers | undefined;

  return {
    fetch: sandboxFetch,
    get handlers() {
      handlers ??= createHandlers(sandboxFetch);
      return handlers;
    },
    state: stateOf(workspaceOf(defaultWorkspace), journal),
    stateOf: (name) => stateOf(workspaceOf(name), journal),
    listen: (where) => listen({ app, clock, page }, where),
    fail: (fault) => plans.add(fault),
    advance: (ms) => clock.advance(ms),
    seedContacts: (count, change) => seedContacts(workspaceOf(defaultWorkspace), count, change),
    addContact: (contact, name = defaultWorkspace) => addContact(workspaceOf(name), contact),
    removeContact: (id, name = defaultWorkspace) => workspaceOf(name).contacts.remove(id),
    updateMailAccount: (id, change, name = defaultWorkspace) =>
      changeAccount(workspaceOf(name).mailAccounts.get(id), change),
    doNotEmail: (address, isOnList = true, name = defaultWorkspace) => {
      const list = workspaceOf(name).doNotEmail;
      if (isOnList) list.add(address.toLowerCase());
      else list.delete(address.toLowerCase());
    },
    updateKey: (key, change) => changeKey(keyNamed(keys, key), change),
  };
};
