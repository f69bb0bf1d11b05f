import fc from "fast-check";
import type { CallOptions, Client } from "../../src/index.ts";
import type { Fault, SandboxState } from "../../src/sandbox/index.ts";

/** One call of a campaign, as fast-check draws it. */
export interface Job {
  readonly kind: keyof typeof kinds;
  /** When it begins, after the one before, in milliseconds. */
  readonly pauseMs: number;
  readonly abortAfterMs: number | undefined;
  readonly totalTimeoutMs: number | undefined;
}

interface Kind {
  /** `mark` is this call's own, so that its effect can be found. */
  call(client: Client, mark: string, options: CallOptions): Promise<unknown>;
  /** How often the effect of the call with the mark happened. */
  effects(state: Marks, mark: string): number;
}

/** How often each mark is in the sandbox, counted once for all calls. */
export type Marks = Readonly<
  Record<
    "contacts" | "names" | "companies" | "lists" | "events" | "emails" | "kept",
    ReadonlyMap<string, number>
  >
>;

const countBy = <T>(
  items: Iterable<T>,
  markOf: (item: T) => string | undefined,
): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const item of items) {
    const mark = markOf(item) ?? "";
    counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  return counts;
};

/** Counts every mark. */
export const marksIn = (state: SandboxState): Marks => ({
  contacts: countBy(state.contacts, ({ email }) => email),
  names: countBy(state.contacts, ({ name }) => name),
  companies: countBy(state.companies.values(), ({ companyName }) => companyName),
  lists: countBy(state.lists.values(), ({ name }) => name),
  events: countBy(state.events, ({ name }) => name),
  emails: countBy(state.emails, ({ subject }) => subject),
  kept: countBy(state.scheduled.values(), ({ draft }) => draft.subject),
});

const person = { email: "ada@example.com" };
const sendAt = "2099-01-01T09:00:00Z";
const countOf =
  (what: keyof Marks): Kind["effects"] =>
  (marks, mark) =>
    marks[what].get(mark) ?? 0;

/** Asks under one key until the email is known to have gone out, or that nobody knows. */
const insist: Kind["call"] = async (client, mark, options) => {
  for (let left = 3; ; left -= 1) {
    try {
      return await client.emails.send(
        { to: person.email, subject: mark, text: "." },
        { ...options, once: mark },
      );
    } catch (error) {
      if (left === 1 || options.signal?.aborted) throw error;
    }
  }
};

const kinds = {
  create: {
    call: (client, mark, options) => client.contacts.create({ email: `${mark}@example.com` }, options),
    effects: ({ contacts }, mark) => contacts.get(`${mark}@example.com`) ?? 0,
  },
  rename: {
    call: async (client, mark, options) => {
      const { contact } = await client.contacts.upsert({ email: `${mark}@rename.example` }, options);
      return client.contacts.update(contact.id, { name: mark }, options);
    },
    effects: countOf("names"),
  },
  list: {
    call: async (client, _mark, options) => client.contacts.list({ limit: 5 }, options),
    effects: () => 0,
  },
  find: { call: (client, _mark, options) => client.contacts.find(person.email, options), effects: () => 0 },
  company: {
    call: (client, mark, options) => client.companies.create({ companyName: mark }, options),
    effects: countOf("companies"),
  },
  companyByDomain: {
    call: (client, mark, options) =>
      client.companies.create({ companyName: mark, domain: `${mark}.example` }, options),
    effects: countOf("companies"),
  },
  search: {
    call: (client, mark, options) => client.companies.findByDomain(`${mark}.example`, options),
    effects: () => 0,
  },
  group: {
    call: (client, mark, options) => client.lists.create({ name: mark }, options),
    effects: countOf("lists"),
  },
  event: {
    call: (client, mark, options) => client.events.record({ name: mark, contact: person }, options),
    effects: countOf("events"),
  },
  batch: {
    call: async (client, mark, options) => {
      const { rejected } = await client.events.recordBatch([{ name: mark, contact: person }], options);
      if (rejected > 0) throw new Error("rejected");
    },
    effects: countOf("events"),
  },
  send: {
    call: (client, mark, options) =>
      client.emails.send({ to: person.email, subject: mark, text: "." }, options),
    effects: countOf("emails"),
  },
  sendOnce: { call: insist, effects: countOf("emails") },
  schedule: {
    call: (client, mark, options) =>
      client.emails.schedule({ to: person.email, subject: mark, text: ".", sendAt }, options),
    effects: countOf("kept"),
  },
  scheduled: {
    call: async (client, _mark, options) => client.emails.scheduled.list({ limit: 5 }, options),
    effects: () => 0,
  },
  keepAndCancel: {
    call: async (client, mark, options) => {
      const kept = await client.emails.schedule(
        { to: person.email, subject: mark, text: ".", sendAt },
        options,
      );
      await client.emails.scheduled.update(kept.id, { text: ".." }, options);
      await client.emails.scheduled.cancel(kept.id, options);
    },
    effects: countOf("kept"),
  },
  members: {
    call: async (client, mark, options) => {
      const { id } = await client.lists.create({ name: mark }, options);
      await client.lists.addContacts(id, [person.email], options);
      await client.lists.removeContacts(id, [person.email], options);
    },
    effects: countOf("lists"),
  },
} as const satisfies Record<string, Kind>;

/** What a job does. */
export const kindOf = ({ kind }: Job): Kind => kinds[kind];

/** Whether the job is one call only, so that its error speaks for its whole effect. */
export const isOneCall = ({ kind }: Job): boolean =>
  !["rename", "sendOnce", "keepAndCancel", "members"].includes(kind);

/** Whether a mark that succeeded must be there once. */
export const isWrite = ({ kind }: Job): boolean => !["list", "find", "search", "scheduled"].includes(kind);

const sometimes = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 40_000 }) },
);

/** Any call. */
export const anyJob: fc.Arbitrary<Job> = fc.record({
  // The keys are those of `kinds`.
  kind: fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])),
  pauseMs: fc.integer({ min: 0, max: 400 }),
  abortAfterMs: sometimes,
  totalTimeoutMs: sometimes,
});

/** What may happen to any request, each with a chance of one in a hundred. */
export const campaignFaults: readonly Fault[] = [
  "reset-before",
  "reset-after-apply",
  "truncate",
  "stall",
  "stall-after-apply",
  "garbage",
  "html-502",
  "missing-fields",
  { status: 500, body: "" },
  { status: 502, applied: true, body: "<html></html>", headers: { "content-type": "text/html" } },
  { status: 307, headers: { location: "https://elsewhere.example/api/v1/" } },
  { status: 204, applied: true },
  { status: 500, applied: true },
  { status: 503, retryAfter: 3 },
  { status: 503, applied: true },
  { status: 429, retryAfter: 7 },
  { status: 429, retryAfter: "0.5" },
  { status: 429 },
  { status: 504, applied: true },
  { items: [0], status: 500 },
];
