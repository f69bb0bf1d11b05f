import { type Incoming, type ParsedBody, Refusal } from "./answer.ts";
import { fieldsOf, isArray } from "./json.ts";
import { type ApiKey, forbiddenReason } from "./keys.ts";
import { type Charge, chargesOn, spend } from "./limits.ts";
import type { Match } from "./router.ts";
import { accountCharges, accountNamed } from "./store/mail-account.ts";
import type { Workspace } from "./store/workspace.ts";

interface Candidate {
  readonly key: ApiKey;
  readonly match: Match | undefined;
  readonly body: ParsedBody;
  readonly incoming: Incoming;
  readonly workspace: Workspace;
}

/** The number of events in a request; 0 for a batch that its rule will refuse. */
const eventCount = ({ operation }: Match, body: ParsedBody): number => {
  if (operation.weight === undefined) return 1;
  const { events } = fieldsOf(body.value);
  return isArray(events) && events.length <= 100 ? events.length : 0;
};

const chargesOf = (match: Match, { key, workspace, body }: Candidate): Charge[] => {
  const { budgets } = match.operation;
  if (budgets.includes("events"))
    return chargesOn(workspace.meters, ["events", "eventsPerDay"], eventCount(match, body));
  if (!budgets.includes("emails")) return [];
  const own = chargesOn(key.meters, ["emails", "emailsPerDay"]);
  const account = accountNamed(key.settings.mailAccount, workspace.mailAccounts);
  // A scheduled email spends the account's limits when it is sent.
  const isNow = account !== undefined && fieldsOf(body.value).sendAt === undefined;
  return isNow ? [...own, ...accountCharges(account)] : own;
};

/**
 * Decides whether a request reaches its rule: limits, route, browser, scope and role. Every request with a valid key
 * counts, even if it is then refused; only a 429 costs nothing.
 *
 * @throws Refusal
 */
export const admit = (candidate: Candidate, now: number): Match => {
  const { key, match, body, incoming } = candidate;
  const forbidden = match && forbiddenReason(key, match.operation, incoming.headers);
  const narrow = match === undefined || forbidden !== undefined ? [] : chargesOf(match, candidate);
  spend([...chargesOn(key.meters, ["requests", "requestsPerDay"]), ...narrow], now);
  if (match === undefined) throw new Refusal(404, `No such path: ${incoming.method} ${incoming.target}`);
  if (forbidden !== undefined) throw new Refusal(403, forbidden);
  if (body.refusal !== undefined) throw body.refusal;
  return match;
};
