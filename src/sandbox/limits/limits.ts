import { createMeter, type LimitKind, type LimitWindow, type Meter } from "./window.ts";

const day = 86_400_000;

/** The numbers of the service document. Source: service document, Limits. */
export const documentedLimits = {
  requests: { max: 100, perMs: 10_000 },
  requestsPerDay: { max: 50_000, perMs: day },
  emails: { max: 20, perMs: 60_000 },
  emailsPerDay: { max: 300, perMs: day },
  events: { max: 50, perMs: 1_000 },
  eventsPerDay: { max: 100_000, perMs: day },
} as const satisfies Record<string, LimitWindow>;

/** The limits by name: the documented ones, and a mail account's own of a day. */
export type LimitName = keyof typeof documentedLimits | "mailAccountPerDay";

/**
 * Which limits hold. What is not given is as documented; a plain number keeps the documented window; `false`
 * lifts one limit. `mailAccountPerDay`, the daily limit of a mail account over everything it sends, has no
 * documented number and is off unless set, here or on the account.
 */
export type SandboxLimits = {
  readonly [Name in LimitName]?: LimitWindow | number | false;
} & {
  /** `sliding` (default): every stretch of time; `fixed`: aligned stretches; `bucket`: fills steadily. */
  readonly kind?: LimitKind;
};

/** Makes the counters of one key, workspace or mail account. */
export type MetersFor = (...names: readonly LimitName[]) => Map<LimitName, Meter>;

const windowOf = (limits: SandboxLimits, name: LimitName): LimitWindow | undefined => {
  const documented = name === "mailAccountPerDay" ? undefined : documentedLimits[name];
  const given = limits[name];
  if (given === false) return undefined;
  if (given === undefined) return documented;
  const window = typeof given === "number" ? { max: given, perMs: documented?.perMs ?? day } : given;
  return Number.isFinite(window.max) ? window : undefined;
};

/** Reads the option; `false` is no limits at all. */
export const createMetersFor = (limits: SandboxLimits | false): MetersFor => {
  const read = (name: LimitName) => (limits === false ? undefined : windowOf(limits, name));
  const kind = (limits !== false && limits.kind) || "sliding";
  return (...names) => {
    const meters = new Map<LimitName, Meter>();
    for (const name of names) {
      const window = read(name);
      if (window !== undefined) meters.set(name, createMeter(kind, window));
    }
    return meters;
  };
};
