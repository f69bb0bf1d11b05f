import type { MetersFor } from "../limits.ts";
import type { MailAccountOptions } from "../options.ts";
import type { LimitName } from "../window.ts";
import { createMeter, type Meter } from "../window.ts";

/** A mail account, which sends emails. */
export interface MailAccount {
  readonly id: string;
  readonly from: string;
  isConnected: boolean;
  /** The message of its 502; undefined while it works. */
  failing: string | undefined;
  readonly meters: Map<LimitName, Meter>;
  /** Sets how many emails the account sends a day; null: as many as it started with. */
  setDailyLimit(max: number | null): void;
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
    const dayFrom = (max: number | undefined): Meter | undefined =>
      max === undefined ? undefined : createMeter("sliding", { max, windowMs: day });
    const first = dayFrom(dailyLimit) ?? meters.get("mailAccountPerDay");
    const setDay = (meter: Meter | undefined): void => {
      if (meter === undefined) meters.delete("mailAccountPerDay");
      else meters.set("mailAccountPerDay", meter);
    };
    setDay(first);
    const setDailyLimit = (max: number | null): void => setDay(max === null ? first : dayFrom(max));
    accounts.set(id, { id, from, isConnected: connected, failing, meters, setDailyLimit });
  }
  return accounts;
};

/** The account with this id. Without an id, the first account, which is the default of a key. */
export const accountNamed = (
  name: string | undefined,
  accounts: ReadonlyMap<string, MailAccount>,
): MailAccount | undefined => (name === undefined ? accounts.values().next().value : accounts.get(name));
