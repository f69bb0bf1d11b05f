import { readFile } from "node:fs/promises";
import { ConfigurationError } from "../errors.ts";
import { writeFileAtomically } from "../runtime/atomic-file.ts";
import { foldAscii } from "../runtime/fold-ascii.ts";
import { type Check, listOf, recordOf, refuse, shape, text, whole } from "./checks.ts";
import { isFields } from "./json.ts";
import { dispatchLater } from "./rules/dispatch.ts";
import type { ActiveRun } from "./store/automation-run.ts";
import type {
  CompanyRecord,
  ContactRecord,
  EmailRecord,
  EventRecord,
  ListRecord,
  ScheduledRecord,
} from "./store/records.ts";
import { addContact, type Workspace } from "./store/workspace.ts";
import type { World } from "./world.ts";

/** The records of one workspace, as JSON. */
interface WorkspaceSnapshot {
  readonly contacts: readonly ContactRecord[];
  readonly companies: readonly CompanyRecord[];
  readonly lists: readonly ListRecord[];
  readonly events: readonly EventRecord[];
  readonly emails: readonly EmailRecord[];
  readonly scheduled: readonly ScheduledRecord[];
  readonly doNotEmail: readonly string[];
  readonly mailAccounts: readonly {
    readonly id: string;
    readonly connected: boolean;
    readonly failing?: string;
  }[];
  readonly runs: readonly { readonly name: string; readonly active: readonly [string, ActiveRun][] }[];
}

/** The contents of a sandbox, as JSON, without keys, requests, planned faults and used limits. */
export interface Snapshot {
  readonly format: "touchpoint-sandbox";
  readonly version: 1;
  /** How far the sandbox's clock was ahead. */
  readonly aheadMs: number;
  /** How many ids had been created. */
  readonly ids: number;
  readonly workspaces: Readonly<Record<string, WorkspaceSnapshot>>;
}

const workspaceSnapshot = (workspace: Workspace): WorkspaceSnapshot => ({
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
    ...(failing === undefined ? {} : { failing }),
  })),
  runs: workspace.runs.map(({ automation, active }) => ({ name: automation.name, active: [...active] })),
});

/** Takes a snapshot for `restore`. */
export const snapshotOf = ({ ids, workspaces }: World, aheadMs: number): Snapshot => ({
  format: "touchpoint-sandbox",
  version: 1,
  aheadMs,
  ids: ids.count,
  workspaces: Object.fromEntries(
    [...workspaces].map(([name, workspace]) => [name, workspaceSnapshot(workspace)]),
  ),
});

/** A list of objects with these fields as non-empty strings; other fields are not checked. */
const records = (...required: readonly string[]): Check =>
  listOf((value, field) =>
    isFields(value)
      ? required.flatMap((name) => text(value[name], `${field}.${name}`))
      : [`${field} must be an object`],
  );

const anything: Check = () => [];
const snapshotShape = shape(
  {
    format: (value, field) =>
      value === "touchpoint-sandbox" ? [] : [`${field} must be "touchpoint-sandbox"`],
    version: (value, field) => (value === 1 ? [] : [`${field} must be 1`]),
    aheadMs: (value, field) => (Number.isFinite(value) ? [] : [`${field} must be a number of milliseconds`]),
    ids: whole(0),
    workspaces: recordOf(
      shape({
        contacts: records("email"),
        companies: records("id"),
        lists: records("id", "name"),
        events: records("id", "name", "occurredAt", "recordedAt"),
        emails: records("id", "to", "from", "subject", "sentAt", "text"),
        scheduled: records("id", "status", "sendAt", "mailAccount"),
        doNotEmail: listOf(text),
        mailAccounts: records("id"),
        runs: listOf(anything),
      }),
    ),
  },
  "format",
  "version",
  "workspaces",
);

/** Reads a snapshot. @throws ConfigurationError naming every fault of it. */
export const checkedSnapshot = (value: unknown): Snapshot => {
  refuse("sandbox.load", snapshotShape(value, ""));
  // Checked above. Where a part may be missing, its reader has a default.
  return value as Snapshot;
};

const byId = <T extends { readonly id: string }>(list: readonly T[] | undefined): [string, T][] =>
  (list ?? []).map((record) => [record.id, record]);

const restoreInto = (workspace: Workspace, from: Partial<WorkspaceSnapshot>): void => {
  for (const [id, company] of byId(from.companies)) {
    workspace.companies.set(id, company);
    if (company.domain !== undefined) workspace.companiesByDomain.set(company.domain, company);
  }
  for (const [id, list] of byId(from.lists)) workspace.lists.set(id, list);
  for (const contact of from.contacts ?? []) addContact(workspace, contact);
  for (const event of from.events ?? []) {
    workspace.events.push(event);
    if (event.callerId !== undefined) workspace.eventsById.set(event.callerId, event);
  }
  workspace.emails.push(...(from.emails ?? []));
  for (const address of from.doNotEmail ?? []) workspace.doNotEmail.add(foldAscii(address));
  for (const { id, connected, failing } of from.mailAccounts ?? []) {
    const account = workspace.mailAccounts.get(id);
    if (account !== undefined) Object.assign(account, { isConnected: connected, failing });
  }
  for (const { name, active } of from.runs ?? []) {
    const run = workspace.runs.find(({ automation }) => automation.name === name);
    for (const [contactId, state] of active) run?.active.set(contactId, state);
  }
  for (const [id, record] of byId(from.scheduled)) {
    workspace.scheduled.set(id, record);
    if (record.status === "SCHEDULED") dispatchLater(record, workspace);
  }
};

/**
 * Puts the records of a snapshot into a new world. Scheduled emails that are due are sent.
 *
 * @throws ConfigurationError for a workspace that neither an option nor a key names.
 */
export const restore = (world: World, { workspaces, ids = 0 }: Snapshot): void => {
  const found = Object.entries(workspaces).map(([name, from]) => [world.workspaceNamed(name), from] as const);
  world.ids.count = ids;
  // Copied, because the sandbox changes its records, and the snapshot belongs to the caller.
  for (const [workspace, from] of found) restoreInto(workspace, structuredClone(from));
};

/** Takes and restores snapshots of a sandbox. */
export interface Snapshots {
  take(): Snapshot;
  /** @throws ConfigurationError naming every fault; the sandbox is then unchanged. */
  restore(value: unknown): void;
}

/** Writes a snapshot as JSON. */
export const saveTo = async (file: string, { take }: Snapshots): Promise<void> => {
  refuse("sandbox.save", text(file, "file"));
  await writeFileAtomically(file, `${JSON.stringify(take(), null, 1)}\n`);
};

/** Reads a snapshot. @throws ConfigurationError naming the file and what is wrong with it. */
export const loadFrom = async (file: string, { restore }: Snapshots): Promise<void> => {
  refuse("sandbox.load", text(file, "file"));
  try {
    restore(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^sandbox\.load: /, "") : String(cause);
    throw new ConfigurationError(`sandbox.load: ${file}: ${why}`, { cause });
  }
};
