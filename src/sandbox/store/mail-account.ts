import type { LimitName, MetersFor } from "../limits.ts";
import type { MailAccountOptions } from "../options.ts";
import { createMeter, type Meter } from "../window.ts";

/** A mail account, which sends emails. */
export interface MailAccount {
  readonly id: string;
  readonly from: string;
  isConnected: boolean;
  /** The message of its 502; undefined while it works. */
  failing: string | undefined;
  readonly meters: Map<LimitName, Meter>;
}

/** The mail account of a workspace that configures none. */
export const defaultMailAccount: MailAccountOptions = {
  id: "mail-1",
  from: "Sandbox <sandbox@touchpoint.example>",
};

const day = 86_400_000;

/** Creates the configured accounts, each with its own meters. */
export const createMailAccounts = (
  options: readonly MailAccountOptions[] = [defaultMailAccount],
  metersFor: MetersFor,
): Map<string, MailAccount> => {
  const accounts = new Map<string, MailAccount>();
  for (const { id, from = `${id}@touchpoint.example`, connected = true, failing, dailyLimit } of options) {
    const meters = metersFor("emails", "emailsPerDay", "mailAccountPerDay");
    if (dailyLimit !== undefined) {
      meters.set("mailAccountPerDay", createMeter("sliding", { max: dailyLimit, perMs: day }));
    }
    accounts.set(id, { id, from, isConnected: connected, failing, meters });
  }
  return accounts;
};

/** The account with this id. Without an id, the first account, which is the default of a key. */
export const accountNamed = (
  name: string | undefined,
  accounts: ReadonlyMap<string, MailAccount>,
): MailAccount | undefined => (name === undefined ? accounts.values().next().value : accounts.get(name));
