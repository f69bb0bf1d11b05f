import { foldAscii } from "../../runtime/fold-ascii.ts";
import type { MetersFor } from "../limits.ts";
import type { AutomationOptions, SandboxOptions, WorkspaceOptions } from "../options.ts";
import type { SandboxClock } from "../sandbox-clock.ts";
import { createContactStore } from "./contacts.ts";
import { createMailAccount, defaultMailAccount } from "./mail-account.ts";
import type {
  CompanyRecord,
  ContactRecord,
  EmailRecord,
  EventRecord,
  ListRecord,
  ScheduledRecord,
} from "./records.ts";

/** Services that all workspaces of a sandbox share. */
export interface Services {
  readonly clock: SandboxClock;
  /** Creates an opaque id with a prefix. */
  readonly newId: (prefix: string) => string;
  readonly metersFor: MetersFor;
  readonly order: SandboxOptions["order"];
  /** Called after a record was added or changed. */
  readonly changed: () => void;
}

/** One automation with its active runs, by contact id. */
export interface AutomationRun {
  readonly automation: AutomationOptions;
  readonly active: Map<
    string,
    {
      isWaiting: boolean;
      /** The value that ties a later event to the one that started the run. */
      readonly correlation: unknown;
    }
  >;
}

/** Creates a workspace without records. */
export const createWorkspace = (name: string, settings: WorkspaceOptions, services: Services) => {
  const events: EventRecord[] = [];
  const emails: EmailRecord[] = [];
  const runs: AutomationRun[] =
    settings.automations?.map((automation) => ({ automation, active: new Map() })) ?? [];
  const { mailAccounts = [defaultMailAccount] } = settings;
  const { metersFor } = services;
  return {
    name,
    services,
    /** The current settings. Parts with their own state, such as mail accounts, are below. */
    settings,
    contacts: createContactStore(services.order),
    companies: new Map<string, CompanyRecord>(),
    lists: new Map<string, ListRecord>(),
    events,
    /** Events by the caller's id, if the request had one. */
    eventsById: new Map<string, EventRecord>(),
    emails,
    scheduled: new Map<string, ScheduledRecord>(),
    meters: metersFor(`workspace ${name}`, "events"),
    mailAccounts: new Map(mailAccounts.map((one) => [one.id, createMailAccount(one, name, metersFor)])),
    /** Addresses in lower case. */
    doNotEmail: new Set(settings.doNotEmail?.map(foldAscii)),
    runs,
  };
};

/** Everything in one workspace. It gives no access to records of other workspaces. */
export type Workspace = ReturnType<typeof createWorkspace>;

/** The current time as the service writes it. */
export const timestamp = ({ services }: Workspace): string =>
  new Date(services.clock.wallTime()).toISOString();

// All contacts without custom fields or lists share these two. This halves the memory of a million seeded contacts.
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
