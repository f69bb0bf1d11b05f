import type { Clock } from "../runtime/clock.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { isAtLeast, isOneOf, isText, refuseSetup, ruleFaults } from "../runtime/rules.ts";
import { isRecord } from "../runtime/values.ts";
import type { RequestRecord } from "./journal.ts";
import { defaultWorkspace } from "./keys.ts";
import type { SandboxState } from "./state.ts";
import type { ContactRecord, EmailRecord, EventRecord } from "./store/records.ts";

/** What can be waited for. */
export interface Awaited {
  readonly email: EmailRecord;
  readonly contact: ContactRecord;
  readonly event: EventRecord;
  readonly request: RequestRecord;
}

/** How long to wait, and where. */
export interface WaitOptions {
  /** Milliseconds on the `clock` option of the sandbox, which `advance` does not move. 5,000 by default. */
  readonly timeoutMs?: number;
  /** The name of a workspace; default: `default`. Requests are those of all workspaces. */
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

const isKind = isOneOf(...Object.keys(kinds));
const optionRules = { timeoutMs: isAtLeast(0), workspace: isText };

/** Waits for records; `look` has those that wait look again. */
export const createWaiting = (
  stateNamed: (workspace: string) => SandboxState,
  clock: Clock,
): { readonly waitFor: WaitFor; look(): void } => {
  const waiting = new Set<() => void>();
  const waitFor: WaitFor = async (kind, fields, options) => {
    refuseSetup("sandbox.waitFor", [...isKind(kind, "kind"), ...ruleFaults(options, optionRules)]);
    const { timeoutMs = 5_000, workspace = defaultWorkspace } = options ?? {};
    const state = stateNamed(workspace);
    // The kind decides the records' type; a lookup in a table does not say so to the compiler.
    const records = () => state[kinds[kind]] as readonly Awaited[typeof kind][];
    const find = () => records().find((record) => fits(fields ?? {}, record));
    const present = find();
    if (present !== undefined) return present;
    // Here, where a value that is no JSON rejects: in the timer it would end the process.
    const what = `${kind} with ${JSON.stringify(fields ?? {})}`;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const match = find();
        if (match === undefined) return;
        waiting.delete(look);
        cancel();
        resolve(match);
      };
      const cancel = clock.after(timeoutMs, () => {
        waiting.delete(look);
        reject(new Error(`sandbox.waitFor: no ${what} within ${timeoutMs} ms, among ${records().length}`));
      });
      waiting.add(look);
    });
  };
  return {
    waitFor,
    look: () => {
      // The record may not be complete before the request has ended.
      if (waiting.size > 0) queueMicrotask(() => waiting.forEach((look) => void look()));
    },
  };
};
