import { type Charge, chargesOn, createMeter, type Meter, type MetersFor } from "../limits.ts";
import { day, type LimitName, type MailAccountOptions } from "../options.ts";

/** A mail account, which sends emails. */
export interface MailAccount {
  readonly id: string;
  readonly from: string;
  isConnected: boolean;
  /** The message of its 502; undefined while it works. */
  failing: string | undefined;
  /** What it started with; undefined for no limit. */
  readonly dailyLimit: number | undefined;
  readonly meters: Map<LimitName, Meter>;
}

/** The mail account of a workspace that configures none. */
export const defaultMailAccount: MailAccountOptions = {
  id: "mail-1",
  from: "Sandbox <sandbox@touchpoint.example>",
};

/** Sets how many emails the account sends a day, counted from now. */
export const setDailyLimit = ({ meters }: MailAccount, max: number | undefined): void => {
  meters.delete("mailAccountPerDay");
  if (max !== undefined) meters.set("mailAccountPerDay", createMeter({ max, windowMs: day }));
};

/** Creates the configured accounts, each with its own meters. */
export const createMailAccounts = (
  options: readonly MailAccountOptions[] = [defaultMailAccount],
  metersFor: MetersFor,
): Map<string, MailAccount> => {
  const accounts = new Map<string, MailAccount>();
  for (const { id, from = `${id}@touchpoint.example`, connected = true, failing, dailyLimit } of options) {
    const meters = metersFor("emails", "emailsPerDay");
    const account = { id, from, isConnected: connected, failing, dailyLimit, meters };
    setDailyLimit(account, dailyLimit);
    accounts.set(id, account);
  }
  return accounts;
};

/** The account with this id. Without an id, the first account, which is the default of a key. */
export const accountNamed = (
  name: string | undefined,
  accounts: ReadonlyMap<string, MailAccount>,
): MailAccount | undefined => (name === undefined ? accounts.values().next().value : accounts.get(name));

/** What an email spends of the account that sends it. */
export const accountCharges = ({ meters }: MailAccount): Charge[] =>
  chargesOn(meters, ["emails", "emailsPerDay", "mailAccountPerDay"]);
