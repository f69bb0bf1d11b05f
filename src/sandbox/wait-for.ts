import type { Clock } from "../runtime/clock.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { mustBeAtLeast, mustBeOneOf, mustBeText, refuseSetup, ruleFaults } from "../runtime/rules.ts";
import { isRecord } from "../runtime/values.ts";
import type { RequestRecord } from "./journal.ts";
import { defaultWorkspace } from "./keys.ts";
import type { SandboxState } from "./state.ts";
import type { ContactRecord, EmailRecord, EventRecord } from "./store/records.ts";

/** The records that `waitFor` can wait for, by kind. */
export interface Awaited {
  readonly email: EmailRecord;
  readonly contact: ContactRecord;
  readonly event: EventRecord;
  readonly request: RequestRecord;
}

/** The timeout and the workspace of a wait. */
export interface WaitOptions {
  /** Milliseconds on the `clock` option of the sandbox, which `advance` does not move. Default: 5,000. */
  readonly timeoutMs?: number;
  /** The name of a workspace; default: `default`. A wait for a `request` covers all workspaces. */
  readonly workspace?: string;
}

/**
 * Resolves with the first record, old or new, that has these fields; addresses match in any letter case.
 *
 * @throws Error when none came in time; ConfigurationError for an unknown kind, option or workspace.
 */
export type WaitFor = <K extends keyof Awaited>(
  kind: K,
  fields?: Readonly<Partial<Awaited[K]>>,
  options?: WaitOptions,
) => Promise<Readonly<Awaited[K]>>;

const kinds = { email: "emails", contact: "contacts", event: "events", request: "requests" } as const;

const fits = (wanted: unknown, value: unknown, field = ""): boolean => {
  if (isRecord(wanted))
    return isRecord(value) && Object.entries(wanted).every(([name, one]) => fits(one, value[name], name));
  if (typeof wanted !== "string" || typeof value !== "string") return wanted === value;
  return field === "to" || field === "email" ? foldAscii(wanted) === foldAscii(value) : wanted === value;
};

const isKind = mustBeOneOf(...Object.keys(kinds));
const optionRules = { timeoutMs: mustBeAtLeast(0), workspace: mustBeText };

/** Creates `waitFor`. `recheck` makes pending calls look at the records again. */
export const createWaiting = (
  stateNamed: (workspace: string) => SandboxState,
  clock: Clock,
): { readonly waitFor: WaitFor; recheck(): void } => {
  const pending = new Set<() => void>();
  const waitFor: WaitFor = async (kind, fields, options) => {
    refuseSetup("sandbox.waitFor", [...isKind(kind, "kind"), ...ruleFaults(options, optionRules)]);
    const { timeoutMs = 5_000, workspace = defaultWorkspace } = options ?? {};
    const state = stateNamed(workspace);
    // The kind decides the type of the records, which the compiler cannot derive from the lookup.
    const records = () => state[kinds[kind]] as readonly Awaited[typeof kind][];
    const find = () => records().find((record) => fits(fields ?? {}, record));
    const present = find();
    if (present !== undefined) return present;
    // Write the fields now: a value that JSON cannot hold rejects the promise here, and would end the process in the
    // timer.
    const what = `${kind} with ${JSON.stringify(fields ?? {})}`;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = find();
        if (match === undefined) return;
        pending.delete(look);
        cancel();
        resolve(match);
      };
      const cancel = clock.after(timeoutMs, () => {
        pending.delete(look);
        const counted = `${kinds[kind]} checked: ${records().length}`;
        reject(new Error(`sandbox.waitFor: no ${what} within ${timeoutMs} ms (${counted})`));
      });
      pending.add(look);
    });
  };
  return {
    waitFor,
    recheck: () => {
      // Look in a microtask: until the current request ends, its record may be incomplete.
      if (pending.size > 0) queueMicrotask(() => pending.forEach((look) => void look()));
    },
  };
};
