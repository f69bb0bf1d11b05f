import type { Priority } from "../options/priority.ts";
import type { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import { Kind } from "./kind.ts";
import { AdmissionQueue, QueueGroup } from "./queue.ts";

/** A budget, and the requests that spend it, of all clients in the process that count together. */
export class Account {
  readonly budget: Budget;
  /** The kinds whose narrowest budget it is; not held by it, because it may outlive their other budgets. */
  kinds: readonly WeakRef<Kind>[] = [];
  /** Its queues, together with those of every account that is spent along with it. */
  readonly group = new QueueGroup();

  constructor(make: (account: Account) => Budget) {
    this.budget = make(this);
  }
}

/** A queue for requests that spend these accounts, the last one by weight; their kind is common to all clients. */
export const queueFor = (
  accounts: readonly Account[],
  priority: Priority,
  slots: ConcurrencyLimit,
): AdmissionQueue => {
  const [budgets, narrowest] = [accounts.map(({ budget }) => budget), accounts.at(-1)];
  const kinds = narrowest?.kinds.flatMap((known) => known.deref() ?? []) ?? [];
  const isSame = (kind: Kind): boolean =>
    kind.priority === priority &&
    kind.budgets.length === budgets.length &&
    kind.budgets.every((budget, at) => budget === budgets[at]);
  const kind = kinds.find(isSame) ?? new Kind(budgets, priority);
  const group = narrowest?.group.last ?? new QueueGroup();
  if (narrowest !== undefined)
    narrowest.kinds = [...new Set([...kinds, kind])].map((known) => new WeakRef(known));
  for (const account of accounts) group.join(account.group.last);
  return new AdmissionQueue(kind, slots, group);
};
