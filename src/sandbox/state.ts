import type { RequestCounts, RequestRecord } from "./journal.ts";
import type {
  CompanyRecord,
  ContactRecord,
  EmailRecord,
  EventRecord,
  ListRecord,
  ScheduledRecord,
} from "./store/records.ts";
import type { World } from "./world.ts";

/** What the code under test did. Live views: read them, do not change them; after a reset, ask for them again. */
export interface SandboxState {
  /** In order of creation. */
  readonly contacts: readonly Readonly<ContactRecord>[];
  /** By id. */
  readonly companies: ReadonlyMap<string, Readonly<CompanyRecord>>;
  /** By id; `listIds` of a contact names the lists that it is in. */
  readonly lists: ReadonlyMap<string, ListRecord>;
  /** Recorded events, once each; `repeats` counts later requests with the same id. */
  readonly events: readonly Readonly<EventRecord>[];
  /** Sent emails. */
  readonly emails: readonly EmailRecord[];
  /** Scheduled emails by id, including those sent, failed or cancelled since. */
  readonly scheduled: ReadonlyMap<string, Readonly<ScheduledRecord>>;
  /** The newest requests of all workspaces, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Exact counts of all requests. */
  readonly counts: RequestCounts;
}

/** The state of one workspace. It shows the new world after a reset. @throws ConfigurationError if there is no such workspace. */
export const stateOf = (world: () => World, name: string): SandboxState => {
  const current = (): SandboxState => {
    const { contacts, companies, lists, events, emails, scheduled } = world().workspaceNamed(name);
    const { requests, counts } = world().journal;
    return { contacts: contacts.all, companies, lists, events, emails, scheduled, requests, counts };
  };
  const getters = Object.keys(current()).map((part) => {
    const get = (): unknown => Reflect.get(current(), part);
    return [part, { get, enumerable: true }] as const;
  });
  // A getter for each part of the state.
  return Object.defineProperties({}, Object.fromEntries(getters)) as SandboxState;
};
