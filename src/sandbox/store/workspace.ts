import { foldAscii } from "../../runtime/fold-ascii.ts";
import type { MetersFor } from "../limits.ts";
import type { WorkspaceOptions } from "../options.ts";
import type { NewId } from "../random.ts";
import type { SandboxClock } from "../sandbox-clock.ts";
import type { LimitName, Meter } from "../window.ts";
import { type AutomationRun, createRuns } from "./automation-run.ts";
import { type ContactListing, type ContactStore, createContactStore } from "./contacts.ts";
import { createMailAccounts, type MailAccount } from "./mail-account.ts";
import type {
  CompanyRecord,
  ContactRecord,
  EmailRecord,
  EventRecord,
  EventResponse,
  ListRecord,
  ScheduledRecord,
} from "./records.ts";

/** What every workspace shares. */
export interface Services {
  readonly clock: SandboxClock;
  readonly newId: NewId;
  readonly metersFor: MetersFor;
  readonly listing: ContactListing;
  /** Called after a record was added. */
  readonly changed: () => void;
}

/** Everything in one workspace. It gives no access to records of other workspaces. */
export interface Workspace {
  readonly name: string;
  readonly services: Services;
  readonly settings: WorkspaceOptions;
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
  readonly signatures: Set<string>;
  tracking: boolean;
  readonly runs: readonly AutomationRun[];
  readonly meters: ReadonlyMap<LimitName, Meter>;
}

/** Creates a workspace without records. */
export const createWorkspace = (name: string, settings: WorkspaceOptions, services: Services): Workspace => ({
  name,
  services,
  settings,
  contacts: createContactStore(services.listing),
  companies: new Map(),
  companiesByDomain: new Map(),
  lists: new Map(),
  events: [],
  eventsById: new Map(),
  emails: [],
  scheduled: new Map(),
  mailAccounts: createMailAccounts(settings.mailAccounts, services.metersFor),
  doNotEmail: new Set(settings.doNotEmail?.map(foldAscii)),
  // The account's default signature always exists.
  signatures: new Set(["default", ...(settings.signatures ?? [])]),
  tracking: settings.tracking ?? true,
  runs: createRuns(settings.automations),
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

/** The answer to a request that repeats the id of a recorded event. */
export const asDuplicate = (record: EventRecord): EventResponse => ({ ...record.response, duplicate: true });
