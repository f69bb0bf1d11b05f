import type { AutomationOptions } from "../options.ts";

/** One automation and who is in it. */
export interface AutomationRun {
  readonly automation: AutomationOptions;
  /** By contact id. */
  readonly active: Map<string, ActiveRun>;
}

/** A person's way through an automation. */
export interface ActiveRun {
  isWaiting: boolean;
  /** The value that ties a later event to the one that started the run. */
  readonly correlation: unknown;
}

/** Nobody is in any automation yet. */
export const createRuns = (automations: readonly AutomationOptions[] = []): AutomationRun[] =>
  automations.map((automation) => ({ automation, active: new Map() }));
