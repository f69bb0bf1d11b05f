import * as z from "zod/mini";
import { deferred, EmailAddress, inputObject, maybe, openUnion, Text } from "./common.ts";
import { JsonRecord, writtenNames } from "./json.ts";
import { Moment } from "./moment.ts";
import { nearMiss } from "./near-miss.ts";

/** Names with this prefix are for events the service records itself. */
export const reservedEventPrefix = "service.";

/** The property names the document gives as refused. */
export const refusedPropertyNames: readonly string[] = ["password", "card_number", "ssn"];

/** The most events one batch request may carry. */
export const maxEventsPerRequest = 100;

const person = "give { email }, { externalId } or { id }";

const ContactFields = deferred(() =>
  inputObject(
    {
      email: z.optional(EmailAddress),
      externalId: z.optional(Text),
      id: z.optional(Text),
    },
    person,
  ).check(
    z.refine(
      ({ email, externalId, id }) => email !== undefined || externalId !== undefined || id !== undefined,
      person,
    ),
  ),
);

/**
 * Identifies a person by any of `email` (an unknown one becomes a new contact, unless `createContact` is `false`),
 * `externalId` (the caller's own user id) and `id` (the contact id).
 */
export type EventContact =
  | { email: string; externalId?: string | undefined; id?: string | undefined }
  | { externalId: string; email?: string | undefined; id?: string | undefined }
  | { id: string; email?: string | undefined; externalId?: string | undefined };
// That one is there is checked at run time and told to the type here.
export const EventContact = ContactFields as unknown as z.ZodMiniType<EventContact>;

/** Data of an event. Names such as `password`, `card_number` and `ssn` are refused. */
export const EventProperties = deferred(() =>
  JsonRecord.check(
    z.refine(
      // As the document spells them; what else the service takes for secret-like is for it to say.
      (value) => !writtenNames(value).some((name) => refusedPropertyNames.includes(name)),
      `must not carry a secret-like name (${refusedPropertyNames.join(", ")}): the service refuses it`,
    ),
  ),
);

const eventFields = ["properties", "contactFields", "occurredAt", "createContact"];

/** Something a person did. */
export const EventInput = deferred(() =>
  inputObject({
    /** 1 or more characters; not beginning with `service.`. */
    name: Text.check(
      z.refine(
        (name) => !name.startsWith(reservedEventPrefix),
        `must not start with "${reservedEventPrefix}": those are for events the service records itself`,
      ),
    ),
    /** The caller's event id, 1 or more characters: a repeated id is recorded once. One is given where there is none. */
    id: z.optional(Text),
    /** Whom it is about: an email, an externalId or a contact id. */
    contact: EventContact,
    /** Data of the event; not under names such as `password`, `card_number` or `ssn`. */
    properties: z.optional(EventProperties),
    /** Contact fields to set on the person. */
    contactFields: z.optional(JsonRecord),
    /** When it happened; the service refuses a time in its future. */
    occurredAt: z.optional(Moment),
    /** `false`: an unknown email does not create a contact. */
    createContact: z.optional(z.boolean("must be a boolean")),
  }).check(({ value, issues }) => {
    // The service would pass over it, and record another event than the one meant.
    for (const name of Object.keys(value)) {
      const meant = eventFields.includes(name) ? undefined : nearMiss(name, eventFields);
      if (meant !== undefined && Reflect.get(value, meant) === undefined)
        issues.push({
          code: "custom",
          input: value,
          path: [name],
          message: `is no field, is "${meant}" meant?`,
        });
    }
  }),
);
export type EventInput = z.infer<typeof EventInput>;

export const EventBatch = deferred(() =>
  inputObject({
    events: z
      .array(EventInput, "must be an array of events")
      .check(
        z.minLength(1, "must hold at least one event"),
        z.maxLength(maxEventsPerRequest, "must hold at most 100 events"),
      ),
  }),
);
export type EventBatch = z.infer<typeof EventBatch>;

/** What became of an event: processed, nobody matched and creation was off, or too old to start anything. */
export const EventOutcome = deferred(() => openUnion("PROCESSED", "NO_CONTACT", "TOO_OLD"));
export type EventOutcome = z.infer<typeof EventOutcome>;

/** The service's answer to a recorded event. */
export const EventReceipt = deferred(() =>
  z.looseObject({
    id: z.string(),
    name: maybe(z.string()),
    /** The contact it was recorded for; null where nobody matched. */
    contactId: maybe(z.string()),
    /** `true` when the id repeated an earlier event. */
    duplicate: maybe(z.boolean()),
    /** `PROCESSED`, `NO_CONTACT` or `TOO_OLD`. */
    outcome: maybe(EventOutcome),
    /** Whether the event made a new contact. */
    createdContact: maybe(z.boolean()),
    /** Automation runs started. */
    runsStarted: maybe(z.number()),
    /** Runs stopped by exit rules or goals. */
    runsExited: maybe(z.number()),
    /** Runs that were waiting for this event and continued. */
    runsResumed: maybe(z.number()),
    /** Runs that reached a goal. */
    runsConverted: maybe(z.number()),
    /** Why nothing started. */
    note: maybe(z.string()),
  }),
);
export type EventReceipt = z.infer<typeof EventReceipt>;

/** One result of a batch as the service sends it. The shape of a failed one is not documented. */
export const BatchAnswerItem = deferred(() =>
  z.looseObject({
    status: maybe(z.number()),
    id: maybe(z.string()),
    name: maybe(z.string()),
    /** `PROCESSED`, `NO_CONTACT` or `TOO_OLD`. */
    outcome: maybe(EventOutcome),
    runsStarted: maybe(z.number()),
    duplicate: maybe(z.boolean()),
    error: z.optional(z.unknown()),
  }),
);
export type BatchAnswerItem = z.infer<typeof BatchAnswerItem>;

/** The service's answer to one batch request. */
export const BatchAnswer = deferred(() =>
  z.looseObject({
    accepted: maybe(z.number()),
    rejected: maybe(z.number()),
    results: z.array(BatchAnswerItem),
  }),
);
export type BatchAnswer = z.infer<typeof BatchAnswer>;
