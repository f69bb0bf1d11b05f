import * as z from "zod/mini";
import type { MomentInput } from "../runtime/moments.ts";
import { asWritten, isRecord } from "../runtime/values.ts";
import { issuesOf, readFields } from "./check.ts";
import {
  deferred,
  EmailAddress,
  each,
  type FreeFields,
  inputOf,
  isArray,
  objectOf,
  readRecord,
  type Schema,
  Text,
  Whole,
  zodOf,
} from "./common.ts";
import { ContactPatch } from "./contacts.ts";
import { operation } from "./define.ts";
import { JsonRecord, jsonRecord } from "./json.ts";
import { Moment } from "./timestamps.ts";

/** Names with this prefix are reserved for events that the service records itself. */
export const reservedEventPrefix = "service.";

/** The property names that the document lists as refused. The service may refuse other secret-like names, too. */
export const refusedPropertyNames: readonly string[] = ["password", "card_number", "ssn"];

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

const refusedLetters = new Set(refusedPropertyNames.map(lettersOf));

/**
 * The fault of a property name that the service refuses. The document lists exact names, but a name that differs only
 * in letter case or separators (`Card-Number`) is refused here, too.
 */
const refusalOf = (name: string): string | undefined =>
  refusedLetters.has(lettersOf(name))
    ? `looks like a secret (the service refuses names such as ${refusedPropertyNames.join(", ")}), so the event is not sent`
    : undefined;

/** The most events one batch request may carry. */
export const maxEventsPerRequest = 100;

/**
 * Identifies a person by `email` (an unknown one becomes a new contact, unless `createContact` is `false`),
 * `externalId` (your own user id) or `id` (the contact id).
 *
 * Source: service document, Event, `contact`.
 */
export type EventContact = {
  /** The person's address; an unknown one becomes a new contact, unless `createContact` is `false`. */
  email?: string | undefined;
  /** Your own user id, saved on the contact. */
  externalId?: string | undefined;
  /** The contact's id; the service refuses an unknown one with 404. */
  id?: string | undefined;
} & ({ email: string } | { externalId: string } | { id: string });

const person = "pass { email }, { externalId } or { id }";

/** Checks the person of an event. */
// At least one field is required. The check enforces this at run time, and the cast in the type.
export const EventContact: Schema<EventContact> = inputOf<Pick<EventContact, keyof EventContact>>(
  () => ({ email: z.optional(EmailAddress), externalId: z.optional(Text), id: z.optional(Text) }),
  () => z.refine((ids) => (ids.email ?? ids.externalId ?? ids.id) !== undefined, person),
  person,
) as unknown as Schema<EventContact>;

/** Data of an event. The names `password`, `card_number` and `ssn` are refused, in any spelling and at any depth. */
// Only the service knows which other names it refuses as secret-like.
export const EventProperties = deferred(() => jsonRecord("must be an object", refusalOf));

/**
 * The fields of every event, besides its name, properties and contact fields. Declare other fields by merging: `declare
 * module "touchpoint-sdk" { interface EventFields { … } }`.
 *
 * Source: service document, Event.
 */
export interface EventFields {
  /** Your event id, not blank. The service records events with the same id once. The library generates a missing id. */
  id?: string | undefined;
  /** The person: an email, an externalId or a contact id. */
  contact: EventContact;
  /**
   * The time of the event: a `Date`, `Temporal.Instant`, `Temporal.ZonedDateTime`, or ISO 8601 string with a time zone.
   * The service refuses a future time.
   */
  occurredAt?: MomentInput | undefined;
  /** `false`: an unknown email does not create a contact. */
  createContact?: boolean | undefined;
}

/**
 * An event: something that a person did.
 *
 * Source: service document, Event.
 */
export interface EventInput extends EventFields {
  /** The event's name: not blank, and not starting with `service.`. */
  name: string;
  /** Data of the event. Names such as `password`, `card_number` or `ssn` are refused. */
  properties?: FreeFields | undefined;
  /** Contact fields to set on the person, for example `name`. */
  contactFields?: ContactPatch | undefined;
}
/** Checks an event. */
export const EventInput: Schema<EventInput> = inputOf<EventInput>(
  () => ({
    name: Text.check(
      z.refine(
        (name) => !name.startsWith(reservedEventPrefix),
        `must not start with "${reservedEventPrefix}": such events are recorded by the service itself`,
      ),
    ),
    id: z.optional(Text),
    contact: EventContact,
    properties: z.optional(EventProperties),
    // `JsonRecord` checks only that the values are JSON. The check below validates the fields as a contact patch.
    contactFields: z.optional(JsonRecord) as Schema as Schema<ContactPatch | undefined>,
    occurredAt: z.optional(zodOf(Moment)),
    createContact: z.optional(z.boolean("must be a boolean")),
  }),
  () =>
    ({ value, issues }) => {
      const { contactFields } = value;
      if (contactFields === undefined) return;
      // Documented contact fields must be valid. Other fields may have any value.
      for (const { path, message } of issuesOf(ContactPatch, asWritten(contactFields)))
        issues.push({ code: "custom", input: value, path: ["contactFields", path], message });
    },
);

/** Copies an event in the form that JSON gives it. */
export const readEvent = <Input>(event: Input): Input => readFields(EventInput, event);

/** The events of one request, 1–100. */
export type EventBatch = { events: EventInput[] };
export const EventBatch = inputOf<EventBatch>(() => ({
  events: z
    .array(zodOf(EventInput), "must be an array of events")
    .check(
      z.minLength(1, "must have at least one event"),
      z.maxLength(maxEventsPerRequest, "must have at most 100 events"),
    ),
}));

/**
 * The result of an event. `PROCESSED`: the automations handled it. `NO_CONTACT`: no contact matched, and none was
 * created. `TOO_OLD`: the event was too old to start anything. Any other value is returned unchanged, and reported.
 *
 * Source: service document, Event, `outcome`.
 */
export type EventOutcome = "PROCESSED" | "NO_CONTACT" | "TOO_OLD";
export const EventOutcome: Schema<EventOutcome> = deferred(() =>
  z.enum(["PROCESSED", "NO_CONTACT", "TOO_OLD"], "must be PROCESSED, NO_CONTACT or TOO_OLD"),
);

/**
 * The service's response to a recorded event. Fields that the document does not name are kept.
 *
 * Source: service document, Event, response fields.
 */
export interface EventReceipt {
  /** The service's id of the recorded event, an opaque string. It can differ from the `id` that you sent. */
  id: string;
  /** The event's name. */
  name: string;
  /** The id of the event's contact; null if no contact matched. */
  contactId?: string | null | undefined;
  /** `true` if the id repeated an earlier event. */
  duplicate: boolean;
  /** `PROCESSED`, `NO_CONTACT` or `TOO_OLD`. */
  outcome: EventOutcome;
  /** Whether the event created a contact. */
  createdContact: boolean;
  /** The number of automation runs that the event started. */
  runsStarted: number;
  /** The number of runs that the event stopped, by an exit rule or a goal. */
  runsExited: number;
  /** The number of runs that waited for the event and continued. */
  runsResumed: number;
  /** The number of runs that reached a goal. */
  runsConverted: number;
  /** Why nothing started, for example because the person is already in a run; otherwise null. */
  note?: string | null | undefined;
}
export const EventReceipt: Schema<EventReceipt> = objectOf<EventReceipt>(() => ({
  ...each(z.string(), "id", "name"),
  ...each(z.nullish(z.string()), "contactId", "note"),
  ...each(z.boolean(), "duplicate", "createdContact"),
  outcome: EventOutcome,
  ...each(Whole, "runsStarted", "runsExited", "runsResumed", "runsConverted"),
}));

/** The result in a batch of an event that the service recorded: its status is 200–299. */
const RecordedItem = deferred(() =>
  z.looseObject({ ...each(z.string(), "id", "name"), outcome: EventOutcome, runsStarted: Whole }),
);

const isRecorded = ({ status }: BatchAnswerItem): boolean =>
  typeof status === "number" && status >= 200 && status < 300;

/** One result of a batch, as the service sends it. The shape of a failed one is not documented. */
interface BatchAnswerItem {
  status?: number | null | undefined;
  id?: string | null | undefined;
  name?: string | null | undefined;
  /** `PROCESSED`, `NO_CONTACT` or `TOO_OLD`. */
  outcome?: EventOutcome | null | undefined;
  runsStarted?: number | null | undefined;
  duplicate?: boolean | null | undefined;
  error?: unknown;
}
const BatchAnswerItem = objectOf<BatchAnswerItem>(
  () => ({
    ...each(z.nullish(Whole), "status", "runsStarted"),
    ...each(z.nullish(z.string()), "id", "name"),
    outcome: z.nullish(zodOf(EventOutcome)),
    duplicate: z.nullish(z.boolean()),
    error: z.optional(z.unknown()),
  }),
  () =>
    ({ value, issues }) => {
      if (!isRecorded(value)) return;
      for (const { path, message } of issuesOf(RecordedItem, value))
        issues.push({ code: "custom", input: value, path: [path], message });
    },
);

/** The service's response to one batch request. */
export interface BatchAnswer {
  accepted: number;
  rejected: number;
  results: BatchAnswerItem[];
}
export const BatchAnswer = objectOf<BatchAnswer>(() => ({
  ...each(Whole, "accepted", "rejected"),
  results: z.array(BatchAnswerItem),
}));

/** Adds a missing id once for all attempts, so that a retry after a lost response is recorded once. */
const withId = (event: unknown): unknown => {
  const { id }: { readonly id?: unknown } = Object(event);
  return id === undefined ? { ...Object(event), id: crypto.randomUUID() } : event;
};

/** Reads an event's receipt. A service may send `duplicate` only if it is true. */
const readReceipt = (body: unknown): unknown => {
  const receipt = readRecord(body);
  return isRecord(receipt) ? { ...receipt, duplicate: receipt.duplicate ?? false } : receipt;
};

/** Reads the response to a batch. */
const readBatch = (body: unknown): unknown =>
  isRecord(body) && isArray(body.results) ? { ...body, results: body.results.map(readRecord) } : body;

/** Source: service document, Endpoints, Events. */
export const events = {
  record: operation("events.record", "POST /api/v1/events", {
    scope: ["events:write"],
    replay: "keyed",
    budgets: ["requests", "events"],
    input: EventInput,
    output: EventReceipt,
    read: readReceipt,
    typedInput: "event",
    write: withId,
  }),
  recordBatch: operation("events.recordBatch", "POST /api/v1/events/batch", {
    scope: ["events:write"],
    replay: "keyed",
    budgets: ["requests", "events"],
    weight: (batch) => batch.events.length,
    input: EventBatch,
    output: BatchAnswer,
    read: readBatch,
    typedInput: "checked",
  }),
};
