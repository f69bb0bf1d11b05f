import type { Limits } from "../index.ts";
import { type CliCommand, type Request, textOf, UsageError } from "./cli-command.ts";

/** The option by which commands that call the service take its limits. */
export const limitsOption = {
  limits: {
    type: "string",
    value: "<n>",
    about: "times the documented limits that this key has, for instance 100 for sandbox --fast; off: none",
  },
} as const satisfies CliCommand["shape"]["options"];

/**
 * The limits to keep: undefined for the documented ones, false for none.
 *
 * @throws UsageError for anything but a number above 0 or `off`.
 */
export const limitsOf = async (
  request: Pick<Request, "values">,
): Promise<Partial<Limits> | false | undefined> => {
  const text = textOf(request, "limits");
  if (text === undefined) return undefined;
  if (text === "off") return false;
  const times = Number(text);
  if (!(/^\d+(\.\d+)?$/.test(text) && times > 0))
    throw new UsageError(`--limits must be a number above 0, or off, got "${text}"`);
  const { documentedLimits } = await import("../sandbox/index.ts");
  const more = ({ max, perMs }: { readonly max: number; readonly perMs: number }) => ({
    max: Math.max(1, Math.floor(max * times)),
    perMs,
  });
  const { requests, requestsPerDay, emails, emailsPerDay, events, eventsPerDay } = documentedLimits;
  return {
    requests: more(requests),
    requestsPerDay: more(requestsPerDay).max,
    emails: more(emails),
    emailsPerDay: more(emailsPerDay).max,
    events: more(events),
    eventsPerDay: more(eventsPerDay).max,
  };
};
