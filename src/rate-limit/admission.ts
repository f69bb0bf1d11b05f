import { BatchTooLarge } from "../http/types.ts";
import type { Ending } from "../options/shared-limits.ts";
import type { Budget } from "./budget.ts";
import type { Admission, AdmissionQueue, ConcurrencyLimit, Lack } from "./queue.ts";
import { dayError, refusalOfPause, refusalOfWait, storeError } from "./refusals.ts";

// A request takes all its permits at once or none, so no request holds one budget while it waits for another.
// Interactive requests go before background requests; requests of the same priority go in order of arrival. A request
// that lacks a budget delays only requests that need this budget too.

const never = Number.POSITIVE_INFINITY;
// After the store of shared limits has failed, send it another message at the earliest after this time.
const leastSeekMs = 100;

/** Returns the reason to refuse a request; undefined if it may wait or go. */
export const refusal = (admission: Admission): unknown => {
  const { sending, queue, weight, bounds } = admission;
  const { kind, slots } = queue;
  const { plan } = sending;
  const { signal } = sending.call;
  if (signal?.aborted) return signal.reason;
  if (slots.closing !== undefined && !plan.isDrained) return slots.closing;
  for (const budget of kind.budgets) {
    const spent = kind.weightOf(budget, weight);
    if (!budget.day.has(spent) && !kind.gate?.isGranted(admission)) return dayError(admission, budget, spent);
    const refused = budget.pausedForMs > 0 ? refusalOfPause(admission, budget) : undefined;
    if (refused !== undefined) return refused;
  }
  const lost = kind.narrowest.shared?.lost;
  if (lost !== undefined && (lost.givesUpAt ?? never) <= bounds.clock.now()) {
    // While requests may not wait for the store, no waiting request checks whether the store is back. So check here.
    if (bounds.clock.now() - lost.failedAt >= leastSeekMs) kind.gate?.seek();
    return storeError(admission, lost);
  }
  const most = plan.isDivisible ? kind.cutTo(weight, bounds.interactiveReserve) : undefined;
  return most === undefined ? undefined : new BatchTooLarge(most);
};

const nothing: readonly Lack[] = [];

/**
 * Returns what keeps a request from going now; an empty list if it may go. Also notes that an interactive call wants to
 * go, so that background work keeps leaving a reserve, however long that call waits.
 */
const lacksOf = (admission: Admission): readonly Lack[] => {
  const { queue, weight, bounds } = admission;
  const { kind, slots } = queue;
  if (kind.priority === "interactive") for (const budget of kind.budgets) budget.sawInteractive();
  if (slots.inUse >= slots.max) return slots.lacks;
  if (kind.gate !== undefined) {
    const until = kind.gate.readyAt(admission);
    const of = kind.budgets.at(kind.gate.lacks?.index ?? -1) ?? kind.narrowest;
    return until === undefined ? nothing : [{ of, isForAll: false, until }];
  }
  const leavesReserve = kind.priority === "background" && !isDue(admission);
  let lacks = nothing;
  for (const budget of kind.budgets) {
    const amount = kind.amountOf(budget, weight);
    const reserve = leavesReserve ? budget.keptFromBackground(amount, bounds.interactiveReserve) : 0;
    const leavesShares = budget === kind.narrowest && budget.kindsWithShare.size > 0;
    const shares = leavesShares ? budget.keptForShares(kind.priority) : 0;
    const until = budget.readyAt(amount, reserve + shares);
    if (until === undefined) continue;
    // A request that waits only because of the shares of other kinds must not delay the requests of those kinds.
    const isForAll = shares === 0 || budget.readyAt(amount, reserve) !== undefined;
    lacks = [...lacks, { of: budget, isForAll, until }];
  }
  return lacks;
};

/**
 * Whether a background request goes before interactive requests. It does if background work has had less than its tenth
 * of every budget that the request spends.
 */
const isDue = ({ queue: { kind }, weight }: Admission): boolean =>
  kind.budgets.every((budget) => budget.isBackgroundDue(kind.amountOf(budget, weight)));

/** Whether requests wait for these budgets, not counting the queues of `slots`. */
const isAwaited = (budgets: readonly Budget[], slots?: ConcurrencyLimit): boolean => {
  for (const { queues } of budgets) for (const queue of queues) if (queue.slots !== slots) return true;
  return false;
};

/**
 * Admits the request if possible. Otherwise adds it to its queue, which later calls `go` or `refuse` on it.
 *
 * @returns whether the request may be sent now.
 * @throws the reason why the request may neither go nor wait; it then holds no permits.
 */
export const enter = (admission: Admission): boolean => {
  const { queue, weight } = admission;
  const { kind } = queue;
  const refused = refusal(admission);
  if (refused !== undefined) throw refused;
  kind.weight = weight;
  if (kind.gate === undefined && !isAwaited(kind.budgets) && lacksOf(admission).length === 0) {
    take(admission);
    return true;
  }
  admission.order = arrivals++;
  queue.push(admission);
  // Only the first request of a queue can go, so a new request behind others needs no check.
  if (queue.first === admission) pump(kind.budgets);
  if (admission.hasGone) return true;
  // The requests that `pump` admitted before this one may have used up the daily limit.
  if (admission.refused !== undefined) throw admission.refused;
  const reason = refusalOfWait(admission);
  if (reason === undefined) return false;
  queue.remove(admission);
  throw reason;
};

let arrivals = 0;

const take = (admission: Admission): void => {
  const { queue, weight } = admission;
  const { kind, slots } = queue;
  slots.inUse += 1;
  kind.begin();
  if (kind.gate !== undefined) return kind.gate.take(admission);
  for (const budget of kind.budgets) budget.take(kind.weightOf(budget, weight), admission, kind);
};

/** Returns the permits and the slot of a request that has ended, and admits waiting requests. */
export const end = (admission: Admission, how: Ending): void => {
  const { queue, weight } = admission;
  const { kind, slots } = queue;
  kind.end();
  if (kind.gate !== undefined) kind.gate.settle(admission, how);
  else for (const budget of kind.budgets) budget.end(kind.weightOf(budget, weight), admission, kind, how);
  slots.free();
  // Check the queues only after every budget has its permits back.
  if (isAwaited(kind.budgets, slots.inUse < slots.max ? undefined : slots)) pump(kind.budgets);
};

/**
 * Admits every waiting request that can go, among those that compete for these budgets directly or through another
 * budget. Called when permits or slots may have become free.
 */
export const pump = (budgets: readonly Budget[]): void => {
  const queues = competing(budgets);
  while (serve(queues));
  for (const { first } of queues) first?.reportWait();
};

const competing = (budgets: readonly Budget[]): readonly AdmissionQueue[] => {
  const queues: AdmissionQueue[] = [];
  // The loop also visits budgets that are added to the set meanwhile.
  const concerned = new Set(budgets);
  for (const budget of concerned)
    for (const waiting of budget.queues) {
      // budget.ts must not import AdmissionQueue, so its type is wider. Every queue in it is an AdmissionQueue.
      const queue = waiting as AdmissionQueue;
      if (queue.kind.narrowest === budget) queues.push(queue);
      for (const other of queue.kind.budgets) concerned.add(other);
    }
  return queues;
};

/** Admits all requests that can go. Returns true right after a refusal, which may let other requests go. */
const serve = (queues: readonly AdmissionQueue[]): boolean => {
  for (const queue of queues) queue.isBlocked = false;
  let heads = headsOf(queues);
  for (let admission = heads.shift(); admission !== undefined; admission = heads.shift()) {
    const { queue } = admission;
    if (queue.isBlocked) continue;
    // One signal may abort several requests. An aborted request must not take the place that another one frees.
    const refused = refusal(admission);
    if (refused !== undefined) {
      queue.remove(admission);
      admission.refuse(refused);
      return true;
    }
    const lacks = lacksOf(admission);
    const [first] = lacks;
    if (first === undefined) {
      // Take the permits before `remove`, which gives back a grant that is not in use.
      take(admission);
      queue.remove(admission);
      admission.go();
      heads = headsOf(queues);
      continue;
    }
    queue.block(first);
    for (const lack of lacks) {
      const { of, isForAll, until } = lack;
      if (until !== never && (queue.lack.until === never || until > queue.lack.until)) queue.lack = lack;
      // Other queues that need the same budget must not go before this request.
      if (isForAll) for (const other of of.queues) other.block(lack);
      if ("wakeAt" in of) of.wakeAt(until);
    }
  }
  return false;
};

/** The first requests of the queues that are not blocked, in the order in which they go. */
const headsOf = (queues: readonly AdmissionQueue[]): Admission[] => {
  const heads: Admission[] = [];
  for (const { first, isBlocked } of queues) if (first !== undefined && !isBlocked) heads.push(first);
  return heads.sort((one, other) => rankOf(one) - rankOf(other) || one.order - other.order);
};

const rankOf = (admission: Admission): number => {
  if (admission.queue.kind.priority === "interactive") return 1;
  return isDue(admission) ? 0 : 2;
};
