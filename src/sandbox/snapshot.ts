import { readFile } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { writeFileAtomically } from "../runtime/atomic-file.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import {
  must,
  mustBeOneOf,
  mustBeText,
  mustBeWhole,
  optionsOf,
  type Rule,
  type Rules,
  refuseSetup,
  ruleFaults,
} from "../runtime/rules.ts";
import { isRecord, messageOf } from "../runtime/values.ts";
import { each } from "../service/common.ts";
import { listOf, mustBeTime, recordOf } from "./checks.ts";
import { dispatchLater } from "./rules/emails.ts";
import type { SandboxClock } from "./sandbox-clock.ts";
import { addContact, type Workspace } from "./store/workspace.ts";
import type { World } from "./world.ts";

const workspaceSnapshot = (workspace: Workspace) => ({
  contacts: workspace.contacts.all,
  companies: [...workspace.companies.values()],
  lists: [...workspace.lists.values()],
  events: workspace.events,
  emails: workspace.emails,
  scheduled: [...workspace.scheduled.values()],
  doNotEmail: [...workspace.doNotEmail],
  mailAccounts: [...workspace.mailAccounts.values()].map(({ id, isConnected, failing }) => ({
    id,
    connected: isConnected,
    failing,
  })),
  runs: workspace.runs.map(({ automation, active }) => ({ name: automation.name, active: [...active] })),
});

/** The records of one workspace, as JSON. A part may be missing in a file written by hand. */
type WorkspaceSnapshot = Partial<ReturnType<typeof workspaceSnapshot>>;

/** The contents of a sandbox, as JSON. API keys, requests, planned faults and used limits are not included. */
interface Snapshot {
  readonly format: "touchpoint-sandbox";
  readonly version: 1;
  /** How far the sandbox's clock was ahead. */
  readonly aheadMs?: number;
  /** How many ids the sandbox had created. */
  readonly ids?: number;
  readonly workspaces: Readonly<Record<string, WorkspaceSnapshot>>;
}

/** A list of objects that have these fields; other fields are not checked. */
const records = (rules: Rules): Rule =>
  listOf((value, field) =>
    isRecord(value)
      ? Object.entries(rules).flatMap(([name, rule]) => rule(value[name], `${field}.${name}`))
      : [`${field} must be an object`],
  );

const texts = (...names: readonly string[]): Rules => each(mustBeText, ...names);

/** Refuses a contact with the address of an earlier one. */
const contacts: Rule = (value, field) => {
  const faults = records(texts("email"))(value, field);
  if (faults.length > 0) return faults;
  const seen = new Set<string>();
  // `records` has checked the type.
  return (value as readonly { readonly email: string }[]).flatMap(({ email }, index) =>
    seen.size === seen.add(foldAscii(email)).size
      ? [`${field}[${index}].email must differ from the address of every other contact`]
      : [],
  );
};

const workspaceRules = {
  contacts,
  companies: records(texts("id")),
  lists: records(texts("id", "name")),
  events: records({ ...texts("id", "name"), ...each(mustBeTime, "occurredAt", "recordedAt") }),
  emails: records({ ...texts("id", "to", "from", "subject", "text"), sentAt: mustBeTime }),
  scheduled: records({ ...texts("id", "status", "mailAccount"), sendAt: mustBeTime }),
  doNotEmail: listOf(mustBeText),
  mailAccounts: records(texts("id")),
  runs: records(texts("name")),
};

const snapshotRules = {
  format: mustBeOneOf("touchpoint-sandbox"),
  version: must("1", (value) => value === 1),
  // The clock checks the range.
  aheadMs: must("a number of milliseconds", Number.isFinite),
  ids: mustBeWhole(0),
  workspaces: recordOf(optionsOf(workspaceRules, "an object")),
};

const restoreInto = (workspace: Workspace, from: WorkspaceSnapshot): void => {
  for (const company of from.companies ?? []) workspace.companies.set(company.id, company);
  for (const list of from.lists ?? []) workspace.lists.set(list.id, list);
  for (const contact of from.contacts ?? []) addContact(workspace, contact);
  for (const event of from.events ?? []) {
    workspace.events.push(event);
    if (event.callerId !== undefined) workspace.eventsById.set(event.callerId, event);
  }
  workspace.emails.push(...(from.emails ?? []));
  for (const address of from.doNotEmail ?? []) workspace.doNotEmail.add(foldAscii(address));
  for (const { id, connected = true, failing } of from.mailAccounts ?? [])
    Object.assign(workspace.mailAccounts.get(id) ?? {}, { isConnected: connected, failing });
  for (const { name, active = [] } of from.runs ?? []) {
    const run = workspace.runs.find(({ automation }) => automation.name === name);
    for (const [contactId, state] of active) run?.active.set(contactId, state);
  }
  for (const record of from.scheduled ?? []) {
    workspace.scheduled.set(record.id, record);
    if (record.status === "SCHEDULED") dispatchLater(record, workspace);
  }
};

/** Takes and restores snapshots. @param startAnew - replaces the world with a new one, after `fill` has filled it. */
export const createSnapshots = (
  world: () => World,
  clock: SandboxClock,
  startAnew: (aheadMs: number, fill: (next: World) => void) => void,
) => {
  const take = (): Snapshot => ({
    format: "touchpoint-sandbox",
    version: 1,
    aheadMs: clock.aheadMs,
    ids: world().ids.count,
    workspaces: Object.fromEntries(
      [...world().workspaces].map(([name, workspace]) => [name, workspaceSnapshot(workspace)]),
    ),
  });
  /**
   * Replaces all records and sends due scheduled emails.
   *
   * @throws ConfigurationError naming every fault; the sandbox is then unchanged.
   */
  const restore = (value: unknown): void => {
    refuseSetup(
      "sandbox.load",
      ruleFaults(value, snapshotRules, { required: ["format", "version", "workspaces"] }),
    );
    // Checked above.
    const { aheadMs = 0, ids = 0, workspaces } = value as Snapshot;
    startAnew(aheadMs, (next) => {
      const restored = Object.entries(workspaces).map(
        ([name, from]) => [next.workspaceNamed(name), from] as const,
      );
      next.ids.count = ids;
      for (const [workspace, from] of restored) restoreInto(workspace, from);
    });
  };
  return {
    take,
    restore,
    save: async (file: string) => {
      refuseSetup("sandbox.save", mustBeText(file, "file"));
      await writeFileAtomically(file, `${JSON.stringify(take(), null, 1)}\n`);
    },
    load: async (file: string) => {
      refuseSetup("sandbox.load", mustBeText(file, "file"));
      try {
        restore(JSON.parse(await readFile(file, "utf8")));
      } catch (cause) {
        const why = messageOf(cause).replace(/^sandbox\.load: /, "");
        throw new ConfigurationError(`sandbox.load: ${file}: ${why}`, { cause });
      }
    },
  };
};

export type Snapshots = ReturnType<typeof createSnapshots>;
