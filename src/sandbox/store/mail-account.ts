import type { LimitName, MetersFor } from "../limits.ts";
import type { MailAccountOptions } from "../options.ts";
import { createMeter, type Meter } from "../window.ts";

/** A connected mail account, from which emails leave. */
export interface MailAccount {
  readonly id: string;
  readonly from: string;
  isConnected: boolean;
  /** The sentence of its 502, while it fails. */
  failing: string | undefined;
  readonly meters: Map<LimitName, Meter>;
}

/** The account a workspace has when none is configured. */
export const defaultMailAccount: MailAccountOptions = {
  id: "mail-1",
  from: "Sandbox <sandbox@touchpoint.example>",
};

const day = 86_400_000;

/** Opens the configured accounts, each with counters of its own. */
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

/** The account of that name; without a name the first one, which a key is tied to unless it says otherwise. */
export const accountNamed = (
  name: string | undefined,
  accounts: ReadonlyMap<string, MailAccount>,
): MailAccount | undefined => (name === undefined ? accounts.values().next().value : accounts.get(name));
