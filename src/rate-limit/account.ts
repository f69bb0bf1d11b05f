import type { Priority } from "../options/priority.ts";
import type { Budget } from "./budget.ts";
import type { ConcurrencyLimit } from "./concurrency.ts";
import { Kind } from "./kind.ts";
import { AdmissionQueue, QueueGroup } from "./queue.ts";

/** A kind of requests, and the accounts that they spend. */
interface Spender {
  readonly kind: Kind;
  readonly accounts: readonly Account[];
}

/** A budget, and the requests that spend it, of all clients in the process that count together. */
export class Account {
  readonly budget: Budget;
  spenders: readonly Spender[] = [];
  /** Its queues, together with those of every account that is spent along with it. */
  readonly group = new QueueGroup();

  constructor(make: (account: Account) => Budget) {
    this.budget = make(this);
  }

  /** Only its clients hold it from now on; accounts that live longer must not, by the requests that spent both. */
  release(): void {
    this.budget.release();
    for (const spender of this.spenders)
      for (const account of spender.accounts)
        if (account !== this) account.spenders = account.spenders.filter((other) => other !== spender);
  }
}

const newSpender = (accounts: readonly Account[], priority: Priority): Spender => {
  const budgets = accounts.map(({ budget }) => budget);
  const narrowest = budgets.at(-1);
  if (narrowest === undefined) throw new RangeError("a request spends one limit at least");
  return { kind: new Kind(budgets, narrowest, priority), accounts };
};

/** A queue for requests that spend these accounts, the last one by weight; their kind is common to all clients. */
export const queueFor = (
  accounts: readonly Account[],
  priority: Priority,
  slots: ConcurrencyLimit,
): AdmissionQueue => {
  const found = accounts
    .flatMap(({ spenders }) => spenders)
    .find(
      ({ kind, accounts: spent }) =>
        kind.priority === priority &&
        spent.length === accounts.length &&
        spent.every((account, at) => account === accounts[at]),
    );
  const spender = found ?? newSpender(accounts, priority);
  const group = accounts.at(-1)?.group.last ?? new QueueGroup();
  for (const account of accounts) {
    // One that was released in the meantime is no longer known to the others.
    if (!account.spenders.includes(spender)) account.spenders = [...account.spenders, spender];
    group.join(account.group.last);
  }
  return new AdmissionQueue(spender.kind, slots, group);
};
