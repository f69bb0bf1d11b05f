import { type Charge, chargesOn, createMeter, type MetersFor } from "../limits.ts";
import { day, type MailAccountOptions } from "../options.ts";

/** The mail account of a workspace that configures none. */
export const defaultMailAccount: MailAccountOptions = {
  id: "mail-1",
  from: "Sandbox <sandbox@touchpoint.example>",
};

const createMailAccount = (options: MailAccountOptions, metersFor: MetersFor) => {
  const { id, from = `${id}@touchpoint.example`, connected = true, failing, dailyLimit } = options;
  // `dailyLimit` stays what it started with, `failing` is the message of its 502.
  return {
    id,
    from,
    isConnected: connected,
    failing,
    dailyLimit,
    meters: metersFor("emails", "emailsPerDay"),
  };
};

/** A mail account, which sends emails. */
export type MailAccount = ReturnType<typeof createMailAccount>;

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
  const accounts = options.map((one) => createMailAccount(one, metersFor));
  for (const account of accounts) setDailyLimit(account, account.dailyLimit);
  return new Map(accounts.map((account) => [account.id, account]));
};

/** The account with this id. Without an id, the first account, which is the default of a key. */
export const accountNamed = (
  name: string | undefined,
  accounts: ReadonlyMap<string, MailAccount>,
): MailAccount | undefined => (name === undefined ? accounts.values().next().value : accounts.get(name));

/** What an email spends of the account that sends it. */
export const accountCharges = ({ meters }: MailAccount): Charge[] =>
  chargesOn(meters, ["emails", "emailsPerDay", "mailAccountPerDay"]);
