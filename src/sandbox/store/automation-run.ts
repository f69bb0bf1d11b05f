import type { AutomationOptions } from "../options.ts";

/** One automation and its active runs. */
export interface AutomationRun {
  readonly automation: AutomationOptions;
  /** By contact id. */
  readonly active: Map<string, ActiveRun>;
}

/** A person's run of an automation. */
export interface ActiveRun {
  isWaiting: boolean;
  /** The value that ties a later event to the one that started the run. */
  readonly correlation: unknown;
}

/** Starts without active runs. */
export const createRuns = (automations: readonly AutomationOptions[] = []): AutomationRun[] =>
  automations.map((automation) => ({ automation, active: new Map() }));
