import { defaultWorkspace } from "../keys.ts";
import { createMeter, type Meters, type MetersFor } from "../limits.ts";
import { documentedLimits, type MailAccountOptions } from "../options.ts";

/** The mail account of a workspace that configures none. */
export const defaultMailAccount: MailAccountOptions = {
  id: "mail-1",
  from: "Sandbox <sandbox@touchpoint.example>",
};

/** Sets how many emails an account sends a day, counted from now. */
export const setDailyLimit = (meters: Meters, max: number | undefined): void => {
  meters.delete("mailAccountPerDay");
  const { windowMs } = documentedLimits.emailsPerDay;
  if (max !== undefined) meters.set("mailAccountPerDay", createMeter({ max, windowMs }));
};

/** Creates an account of a workspace with its own meters. */
export const createMailAccount = (options: MailAccountOptions, workspace: string, metersFor: MetersFor) => {
  const { id, from = `${id}@touchpoint.example`, connected = true, failing, dailyLimit } = options;
  const owner = `mail account ${id}${workspace === defaultWorkspace ? "" : ` of ${workspace}`}`;
  const meters = metersFor(owner, "emails");
  setDailyLimit(meters, dailyLimit);
  // `dailyLimit` stays the initial limit, which a change can restore. `failing` is the message of a 502.
  return { id, from, isConnected: connected, failing, dailyLimit, meters };
};

export type MailAccount = ReturnType<typeof createMailAccount>;

/** The account with this id. Without an id, the first account, which is the default of a key. */
export const accountNamed = (
  name: string | undefined,
  accounts: ReadonlyMap<string, MailAccount>,
): MailAccount | undefined => (name === undefined ? accounts.values().next().value : accounts.get(name));
