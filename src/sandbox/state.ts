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

/**
 * The records of a workspace and all requests. Each property is a live view that you must not change. After a reset,
 * read the property again.
 */
export interface SandboxState {
  /** The contacts, in order of creation. */
  readonly contacts: readonly Readonly<ContactRecord>[];
  /** The companies by id. */
  readonly companies: ReadonlyMap<string, Readonly<CompanyRecord>>;
  /** The lists by id. The `listIds` of a contact are the lists that it is in. */
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

/**
 * Returns the state of one workspace. After a reset, the same object shows the new world.
 *
 * @throws ConfigurationError if there is no such workspace.
 */
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
  // The object has a getter for each property of `SandboxState`.
  return Object.defineProperties({}, Object.fromEntries(getters)) as SandboxState;
};
