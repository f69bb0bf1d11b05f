import { ConfigurationError } from "../errors.ts";
import { checkAccountChange, checkKeyChange } from "./check-options.ts";
import { hintFor, refuse, text, whole } from "./checks.ts";
import { type ApiKey, changeKey, defaultWorkspace } from "./keys.ts";
import type { ApiKeyOptions, MailAccountChange } from "./options.ts";
import { seedContacts } from "./seed.ts";
import type { ContactRecord } from "./store/records.ts";
import { addContact, type Workspace } from "./store/workspace.ts";

/** A contact to put in directly; what is left out is as for a contact created with its email alone. */
export type SeedContact = Partial<Omit<ContactRecord, "id">> & {
  /** Unique in the workspace; not checked to be an address. */
  readonly email: string;
};

/** What people do at the service's website while code uses its API. */
export interface SandboxControls {
  /**
   * Puts `count` realistic contacts into the `default` workspace, the same people in every run; `change` may set fields
   * of each, by a number that goes up, from 0 in an empty workspace.
   *
   * @throws ConfigurationError for a count that is no whole number of at least 0.
   */
  seedContacts(count: number, change?: (index: number) => Partial<SeedContact>): void;
  /**
   * Adds one contact, as a person at the service's website would. `workspace`: its name, here and below; `default`
   * unless given.
   *
   * @throws ConfigurationError for a taken address, and here and below for an unknown workspace.
   */
  addContact(contact: SeedContact, workspace?: string): Readonly<ContactRecord>;
  /** Removes one contact, as a person at the service's website would; false when there is none. */
  removeContact(id: string, workspace?: string): boolean;
  /** Connects, disconnects or breaks a mail account. @throws ConfigurationError for an unknown id or change. */
  updateMailAccount(id: string, change: MailAccountChange, workspace?: string): void;
  /**
   * Puts an address on the do-not-email list, or takes it off where `isOnList` is false (default: true).
   *
   * @throws ConfigurationError for an empty address.
   */
  doNotEmail(address: string, isOnList?: boolean, workspace?: string): void;
  /** Changes a key: revokes it, sets its scopes or expiry. @throws ConfigurationError for an unknown key or change. */
  updateKey(key: string, change: Partial<Omit<ApiKeyOptions, "key" | "workspace">>): void;
}

const assertFree = ({ email }: SeedContact, { contacts }: Workspace): void => {
  if (contacts.byEmail(email) === undefined) return;
  throw new ConfigurationError("sandbox.addContact: there is a contact with this email already");
};

/** Takes what the controls reach into; after a reset it is another. */
export const createControls = (
  current: () => { readonly keys: ReadonlyMap<string, ApiKey>; workspaceNamed(name: string): Workspace },
): SandboxControls => {
  const workspaceNamed = (name: string): Workspace => current().workspaceNamed(name);
  return {
    seedContacts: (count, change) => {
      refuse("sandbox.seedContacts", whole(0)(count, "count"));
      seedContacts(workspaceNamed(defaultWorkspace), count, change);
    },
    addContact: (contact, name = defaultWorkspace) => {
      refuse("sandbox.addContact", text(contact?.email, "email"));
      const workspace = workspaceNamed(name);
      assertFree(contact, workspace);
      return addContact(workspace, contact);
    },
    removeContact: (id, name = defaultWorkspace) => workspaceNamed(name).contacts.remove(id),
    updateMailAccount: (id, change, name = defaultWorkspace) => {
      checkAccountChange(change);
      const { mailAccounts } = workspaceNamed(name);
      const account = mailAccounts.get(id);
      if (account === undefined) {
        const hint = hintFor(id, [...mailAccounts.keys()]);
        throw new ConfigurationError(`sandbox.updateMailAccount: there is no account "${id}"${hint}`);
      }
      account.isConnected = change.connected ?? account.isConnected;
      if (change.failing !== undefined) account.failing = change.failing ?? undefined;
    },
    doNotEmail: (address, isOnList = true, name = defaultWorkspace) => {
      refuse("sandbox.doNotEmail", text(address, "address"));
      const list = workspaceNamed(name).doNotEmail;
      if (isOnList) list.add(address.toLowerCase());
      else list.delete(address.toLowerCase());
    },
    updateKey: (name, change) => {
      checkKeyChange(change);
      const key = current().keys.get(name);
      // The name is the key itself, which no message repeats.
      if (key === undefined) throw new ConfigurationError("sandbox.updateKey: there is no such key");
      changeKey(key, change);
    },
  };
};
