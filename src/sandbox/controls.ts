import { ConfigurationError } from "../errors.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { suggestion } from "../runtime/nearest-name.ts";
import { mustBeText, mustBeWhole, refuseSetup } from "../runtime/rules.ts";
import { checkArgument } from "./check-options.ts";
import { defined } from "./json.ts";
import type { ApiKeyOptions, MailAccountChange, WorkspaceChange } from "./options.ts";
import { dispatchLater } from "./rules/emails.ts";
import { seedContacts } from "./seed.ts";
import { setDailyLimit } from "./store/mail-account.ts";
import type { ContactRecord } from "./store/records.ts";
import { addContact } from "./store/workspace.ts";
import type { World } from "./world.ts";

/** A contact to add directly. Missing fields get the same defaults as in a contact created from an email only. */
export type SeedContact = Partial<Omit<ContactRecord, "id">> & {
  /** Unique in the workspace. The sandbox does not check that it is a valid address. */
  readonly email: string;
};

/** Simulates what people do on the service's website while your code uses its API. */
export interface SandboxControls {
  /**
   * Adds `count` realistic contacts to the workspace `default`, the same in every run. `change` can set fields of each
   * contact. Its argument is the contact's index, which starts at 0 in an empty workspace.
   *
   * @throws ConfigurationError when `count` is not a whole number of at least 0.
   * @example
   * ```ts
   * sandbox.seedContacts(100, (index) => ({ customFields: { seats: index } }));
   * ```
   */
  seedContacts(count: number, change?: (index: number) => Partial<SeedContact>): void;
  /**
   * Adds one contact. In this method and the next ones, `workspace` is the name of a workspace; default: `default`.
   *
   * @throws ConfigurationError when another contact has the email. Each method with a `workspace` also throws it when
   * the workspace is unknown.
   * @example
   * ```ts
   * const { id } = sandbox.addContact({ email: "ada@example.com", stage: "UNSUBSCRIBED" });
   * ```
   */
  addContact(contact: SeedContact, workspace?: string): Readonly<ContactRecord>;
  /**
   * Removes one contact.
   *
   * @returns false if there is none.
   * @example
   * ```ts
   * const { id } = sandbox.addContact({ email: "ada@example.com" });
   * sandbox.removeContact(id);
   * ```
   */
  removeContact(id: string, workspace?: string): boolean;
  /**
   * Connects, disconnects or breaks a mail account, or sets how many emails it sends a day.
   *
   * @throws ConfigurationError for an unknown id or change.
   * @example
   * ```ts
   * sandbox.updateMailAccount("mail-1", { failing: "Mailbox full." }); // every send is a 502
   * ```
   */
  updateMailAccount(id: string, change: MailAccountChange, workspace?: string): void;
  /**
   * Changes the signatures or the tracking of a workspace. Scheduled emails are checked again when they go out.
   *
   * @throws ConfigurationError for an unknown change.
   * @example
   * ```ts
   * sandbox.updateWorkspace({ signatures: [], tracking: false });
   * ```
   */
  updateWorkspace(change: WorkspaceChange, workspace?: string): void;
  /**
   * Adds an address to the do-not-email list, or removes it if `isOnList` is false (default: true).
   *
   * @throws ConfigurationError for an empty address.
   * @example
   * ```ts
   * sandbox.doNotEmail("eve@example.com");
   * ```
   */
  doNotEmail(address: string, isOnList?: boolean, workspace?: string): void;
  /**
   * Revokes a key, or changes its scopes, expiry, role or mail account.
   *
   * @throws ConfigurationError for an unknown key or change.
   * @example
   * ```ts
   * sandbox.updateKey("test-key", { revoked: true }); // 401 from now on
   * ```
   */
  updateKey(key: string, change: Partial<Omit<ApiKeyOptions, "key" | "workspace">>): void;
}

/** Creates the controls. Each control calls `current` for the current world, because a reset replaces the world. */
export const createControls = (current: () => World): SandboxControls => ({
  seedContacts: (count, change) => {
    refuseSetup("sandbox.seedContacts", mustBeWhole(0)(count, "count"));
    seedContacts(current().workspaceNamed(), count, change);
  },
  addContact: (contact, name) => {
    refuseSetup("sandbox.addContact", mustBeText(contact?.email, "email"));
    const workspace = current().workspaceNamed(name);
    if (workspace.contacts.byEmail(contact.email) !== undefined)
      throw new ConfigurationError("sandbox.addContact: a contact with this email already exists");
    return addContact(workspace, contact);
  },
  removeContact: (id, name) => current().workspaceNamed(name).contacts.remove(id),
  updateMailAccount: (id, change, name) => {
    checkArgument("updateMailAccount", change);
    const workspace = current().workspaceNamed(name);
    const { mailAccounts } = workspace;
    const account = mailAccounts.get(id);
    if (account === undefined) {
      const hint = suggestion(id, [...mailAccounts.keys()]);
      throw new ConfigurationError(`sandbox.updateMailAccount: there is no account "${id}"${hint}`);
    }
    const { connected = account.isConnected, failing, dailyLimit } = change ?? {};
    account.isConnected = connected;
    if (failing !== undefined) account.failing = failing ?? undefined;
    if (dailyLimit === undefined) return;
    setDailyLimit(account.meters, dailyLimit ?? account.dailyLimit);
    // Emails that waited because of the daily limit may be sent now.
    for (const record of workspace.scheduled.values()) dispatchLater(record, workspace);
  },
  updateWorkspace: (change, name) => {
    checkArgument("updateWorkspace", change);
    const workspace = current().workspaceNamed(name);
    workspace.settings = { ...workspace.settings, ...defined(change) };
  },
  doNotEmail: (address, isOnList = true, name) => {
    refuseSetup("sandbox.doNotEmail", mustBeText(address, "address"));
    const list = current().workspaceNamed(name).doNotEmail;
    if (isOnList) list.add(foldAscii(address));
    else list.delete(foldAscii(address));
  },
  updateKey: (name, change) => {
    checkArgument("updateKey", change);
    const key = current().keys.get(name);
    // Don't repeat the name, because it is the key itself.
    if (key === undefined) throw new ConfigurationError("sandbox.updateKey: there is no such key");
    key.settings = { ...key.settings, ...defined(change) };
  },
});
