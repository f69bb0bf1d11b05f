import { documentedLimits, type Limits, limitFaults } from "../options/limits.ts";
import type { SharedBudget, SharedLimits } from "../options/shared-limits.ts";
import { isNumber, mustBeAtLeast, mustBeOneOf, mustBeText, refuseSetup } from "../runtime/rules.ts";
import { FleetBudget } from "./fleet-budget.ts";
import { FleetGate } from "./gate.ts";
import { LimitStore } from "./limit-store.ts";
import type { Place } from "./place.ts";

/** Who shares the limits, and what happens while their store is unavailable. You can change any limit here too. */
export interface SharedLimitsOptions extends Partial<Limits> {
  /**
   * The same in every process that shares the limits. Use one id per API key, and `limitScopes` for what several keys
   * share.
   */
  readonly id: string;
  /**
   * While the store is unavailable: `closed` (default) sends nothing, and after `maxLostMs` refuses calls with a
   * `ConnectionError`; `open` uses `share` of each limit.
   */
  readonly onLost?: "open" | "closed";
  /**
   * With `onLost: "open"`, the part of each limit that this process may use alone: above 0, at most 1. Required there.
   */
  readonly share?: number;
  /** With `closed`, how long calls wait for an unavailable store, in milliseconds. Default 60,000. */
  readonly maxLostMs?: number;
}

/**
 * Creates limits that processes share through a place.
 *
 * @param factory - the name of the public function, and the faults of its other arguments.
 * @throws ConfigurationError naming every fault at once.
 */
export const limitsOver = (
  place: () => Place,
  options: SharedLimitsOptions,
  factory: { readonly name: string; readonly faults: readonly string[] },
): SharedLimits => {
  // An untyped caller may pass null or nothing; the rule of the id reports it.
  const {
    id,
    onLost = "closed",
    share,
    maxLostMs = 60_000,
    ...ownNumbers
  }: Partial<SharedLimitsOptions> = options ?? {};
  const faults = [...limitFaults(ownNumbers), ...factory.faults, ...mustBeText(id, "id")];
  faults.push(
    ...mustBeOneOf("open", "closed")(onLost, "onLost"),
    ...mustBeAtLeast(0)(maxLostMs, "maxLostMs"),
  );
  if (onLost === "open" && !(isNumber(share, 0, 1) && share !== 0))
    faults.push(
      'with onLost "open", share must be above 0 and at most 1. It is the fraction of each limit that this process may use while the store cannot be reached',
    );
  refuseSetup(factory.name, faults);
  const whenLost = { share: onLost === "open" ? (share ?? 0) : 0, maxMs: maxLostMs };
  let opened: LimitStore | undefined;
  return {
    numbers: { ...documentedLimits, ...ownNumbers },
    open: (name, { limit, maxPerDay, scope }, clock) => {
      opened ??= new LimitStore(place(), whenLost, clock);
      const store = opened;
      const key = `${scope === undefined ? `id:${id}` : `scope:${scope}`}:${name}`;
      const gateOf: SharedBudget["gateOf"] = (kind) => new FleetGate(store, kind);
      const parts = { key, name: `${name}PerDay`, limit, max: maxPerDay, gateOf };
      const budget = store.budgets.get(key) ?? new FleetBudget(parts, store);
      store.budgets.set(key, budget);
      return budget;
    },
  };
};
