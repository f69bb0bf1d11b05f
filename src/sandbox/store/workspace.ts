import { foldAscii } from "../../runtime/fold-ascii.ts";
import type { Meter, MetersFor } from "../limits.ts";
import type { AutomationOptions, LimitName, WorkspaceOptions } from "../options.ts";
import type { SandboxClock } from "../sandbox-clock.ts";
import { type ContactOrder, type ContactStore, createContactStore } from "./contacts.ts";
import { createMailAccounts, type MailAccount } from "./mail-account.ts";
import type {
  CompanyRecord,
  ContactRecord,
  EmailRecord,
  EventRecord,
  ListRecord,
  ScheduledRecord,
} from "./records.ts";

/** What every workspace shares. */
export interface Services {
  readonly clock: SandboxClock;
  /** Creates an opaque id with this prefix. */
  readonly newId: (prefix: string) => string;
  readonly metersFor: MetersFor;
  readonly order: ContactOrder;
  /** Called after a record was added. */
  readonly changed: () => void;
}

/** One automation and its active runs. */
export interface AutomationRun {
  readonly automation: AutomationOptions;
  /** By contact id. */
  readonly active: Map<string, ActiveRun>;
}

/** A person's run of an automation. */
interface ActiveRun {
  isWaiting: boolean;
  /** The value that ties a later event to the one that started the run. */
  readonly correlation: unknown;
}

/** Everything in one workspace. It gives no access to records of other workspaces. */
export interface Workspace {
  readonly name: string;
  readonly services: Services;
  /** Current; what has a state of its own is below. */
  settings: WorkspaceOptions;
  readonly contacts: ContactStore;
  readonly companies: Map<string, CompanyRecord>;
  /** Domains in lower case. */
  readonly companiesByDomain: Map<string, CompanyRecord>;
  readonly lists: Map<string, ListRecord>;
  readonly events: EventRecord[];
  /** By the caller's id; only events that have one. */
  readonly eventsById: Map<string, EventRecord>;
  readonly emails: EmailRecord[];
  readonly scheduled: Map<string, ScheduledRecord>;
  readonly mailAccounts: Map<string, MailAccount>;
  /** Addresses in lower case. */
  readonly doNotEmail: Set<string>;
  readonly runs: readonly AutomationRun[];
  readonly meters: ReadonlyMap<LimitName, Meter>;
}

/** Creates a workspace without records. */
export const createWorkspace = (name: string, settings: WorkspaceOptions, services: Services): Workspace => ({
  name,
  services,
  settings,
  contacts: createContactStore(services.order),
  companies: new Map(),
  companiesByDomain: new Map(),
  lists: new Map(),
  events: [],
  eventsById: new Map(),
  emails: [],
  scheduled: new Map(),
  mailAccounts: createMailAccounts(settings.mailAccounts, services.metersFor),
  doNotEmail: new Set(settings.doNotEmail?.map(foldAscii)),
  runs: (settings.automations ?? []).map((automation) => ({ automation, active: new Map() })),
  meters: services.metersFor("events", "eventsPerDay"),
});

/** The current time as the service writes it. */
export const timestamp = ({ services }: Workspace): string =>
  new Date(services.clock.wallTime()).toISOString();

// Shared by all contacts without any. This halves the memory of a million seeded contacts.
const noFields = Object.freeze({});
const noLists: readonly string[] = Object.freeze([]);

/** Adds a contact; the caller has checked that the address is free. */
export const addContact = (
  workspace: Workspace,
  fields: Partial<ContactRecord> & { readonly email: string },
): ContactRecord => {
  const at = timestamp(workspace);
  const contact: ContactRecord = {
    id: workspace.services.newId("ct"),
    stage: "NEW",
    source: "MANUAL",
    verified: false,
    customFields: noFields,
    listIds: noLists,
    createdAt: at,
    updatedAt: at,
    ...fields,
  };
  workspace.contacts.add(contact);
  workspace.services.changed();
  return contact;
};

/** Changes a contact and its `updatedAt`. */
export const changeContact = (
  workspace: Workspace,
  contact: ContactRecord,
  fields: Partial<ContactRecord>,
): void => {
  workspace.contacts.change(contact, { ...fields, updatedAt: timestamp(workspace) });
  workspace.services.changed();
};
