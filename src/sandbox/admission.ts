import { type Incoming, Refusal } from "./answer.ts";
import type { Fault } from "./faults.ts";
import { isArray } from "./json.ts";
import { type ApiKey, forbiddenReason } from "./keys.ts";
import { type Charge, chargesOn, firstObstacle, spend } from "./limits.ts";
import type { SandboxOptions } from "./options.ts";
import type { ParsedBody } from "./request.ts";
import type { Match, Rule } from "./router.ts";
import type { Call, FailedItem } from "./rules/call.ts";
import type { SandboxClock } from "./sandbox-clock.ts";
import { accountNamed } from "./store/mail-account.ts";
import type { Workspace } from "./store/workspace.ts";

interface Candidate {
  readonly key: ApiKey;
  readonly match: Match | undefined;
  readonly body: ParsedBody;
  readonly incoming: Incoming;
  readonly fault: Fault | undefined;
  readonly workspace: Workspace;
}

interface Admitted {
  readonly rule: Rule;
  readonly call: Omit<Call, "query">;
}

type FailedItems = Call["failedItem"];
const noneFail: FailedItems = () => undefined;

const faultItems = (fault: Fault | undefined): FailedItems => {
  if (fault === undefined || typeof fault === "string" || !("items" in fault)) return noneFail;
  const failed: FailedItem = { status: fault.status ?? 500, error: "Planned fault: this item failed." };
  return (index) => (fault.items.includes(index) ? failed : undefined);
};

/** The number of events in a request; 0 for a batch that its rule will refuse. */
const eventCount = ({ operation }: Match, body: ParsedBody): number => {
  if (operation.weight === undefined) return 1;
  const events = body.fields?.events;
  return isArray(events) && events.length <= 100 ? events.length : 0;
};

interface EmailCharges {
  readonly now: Charge[];
  /** Spent when the email is sent: a refused email does not count against the account. */
  readonly onSending: Charge[];
}

const emailCharges = ({ key, workspace, body }: Candidate): EmailCharges => {
  const own = chargesOn(key.meters, ["emails", "emailsPerDay"]);
  const account = accountNamed(key.mailAccount, workspace.mailAccounts);
  // A scheduled email spends the account's limits when it is sent.
  if (account === undefined || body.fields?.sendAt !== undefined) return { now: own, onSending: [] };
  return {
    now: [...own, ...chargesOn(account.meters, ["emails", "emailsPerDay"])],
    onSending: chargesOn(account.meters, ["mailAccountPerDay"]),
  };
};

/** How many of these events the limits allow now. */
const roomFor = (count: number, charges: (weight: number) => Charge[], now: number): number => {
  let room = count;
  while (room > 0 && firstObstacle(charges(room), now) !== undefined) room -= 1;
  return room;
};

/**
 * Decides whether a request reaches its rule: limits, route, browser, scope and role. Every request with a valid key
 * counts, even if it is then refused; only a 429 costs nothing. A mail account's daily limit counts sent emails only.
 */
export const createAdmission = (options: SandboxOptions, clock: SandboxClock) => {
  const surplus: FailedItem = { status: 429, error: "Too many events; retry later." };

  const eventsLeft = (candidate: Candidate, match: Match): { charges: Charge[]; items: FailedItems } => {
    const charges = (weight: number) =>
      weight === 0 ? [] : chargesOn(candidate.workspace.meters, ["events", "eventsPerDay"], weight);
    const count = eventCount(match, candidate.body);
    if (options.batchOverflow !== "per-item" || match.operation.weight === undefined) {
      return { charges: charges(count), items: noneFail };
    }
    const max = Math.min(count, ...charges(1).map(({ meter }) => meter.window.max));
    const room = roomFor(max, charges, clock.now());
    return { charges: charges(room), items: (index) => (index >= room ? surplus : undefined) };
  };

  return (candidate: Candidate): Admitted => {
    const { key, match, body, incoming, workspace, fault } = candidate;
    const forbidden = match && forbiddenReason(key, match.operation, incoming.headers);
    const budgets: readonly string[] =
      match === undefined || forbidden !== undefined ? [] : match.operation.budgets;
    const { charges: events, items } =
      match !== undefined && budgets.includes("events")
        ? eventsLeft(candidate, match)
        : { charges: [], items: noneFail };
    const emails = budgets.includes("emails") ? emailCharges(candidate) : { now: [], onSending: [] };
    const requests = chargesOn(key.meters, ["requests", "requestsPerDay"]);
    spend([...requests, ...events, ...emails.now], clock.now(), emails.onSending);

    if (match === undefined) throw new Refusal(404, `No such path: ${incoming.method} ${incoming.target}`);
    if (forbidden !== undefined) throw new Refusal(403, forbidden);
    if (body.refusal !== undefined) throw body.refusal;
    const planned = faultItems(fault);
    return {
      rule: match.rule,
      call: {
        workspace,
        key,
        id: match.id,
        body: body.value,
        failedItem: (index) => planned(index) ?? items(index),
        scheduledResponse: options.scheduledResponse ?? "nested",
      },
    };
  };
};
