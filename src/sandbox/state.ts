import type { Journal, RequestCounts, RequestRecord } from "./journal.ts";
import type {
  CompanyRecord,
  ContactRecord,
  EmailRecord,
  EventRecord,
  ListRecord,
  ScheduledRecord,
} from "./store/records.ts";
import type { Workspace } from "./store/workspace.ts";

/** What the code under test did. Live views: read them, do not change them. */
export interface SandboxState {
  /** In order of creation. */
  readonly contacts: readonly Readonly<ContactRecord>[];
  /** By id. */
  readonly companies: ReadonlyMap<string, Readonly<CompanyRecord>>;
  /** By id; who is in a list stands in each contact's `listIds`. */
  readonly lists: ReadonlyMap<string, ListRecord>;
  /** Recorded events, once each; `repeats` counts how often an id came again. */
  readonly events: readonly Readonly<EventRecord>[];
  /** Emails that left. */
  readonly emails: readonly EmailRecord[];
  /** Emails accepted for later, by id, whatever became of them. */
  readonly scheduled: ReadonlyMap<string, Readonly<ScheduledRecord>>;
  /** The newest requests of all workspaces, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Exact counts of all requests. */
  readonly counts: RequestCounts;
}

/** The view of one workspace. */
export const stateOf = (workspace: Workspace, journal: Journal): SandboxState => ({
  contacts: workspace.contacts.all,
  companies: workspace.companies,
  lists: workspace.lists,
  events: workspace.events,
  emails: workspace.emails,
  scheduled: workspace.scheduled,
  requests: journal.requests,
  get counts() {
    return journal.counts;
  },
});
