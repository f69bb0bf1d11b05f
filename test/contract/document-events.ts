import {
  answers,
  events,
  fields,
  keys,
  leftOpen,
  properties,
  rules,
  type Section,
  says,
  schemas,
} from "./document-statement.ts";

const recorded = fields("is recorded with each of its request fields");
const receipt = fields("'s receipt has %s");
const whole = events("an unknown address becomes a contact: 202 with the whole receipt");
const runs = events("start, resume, reach a goal and exit, tied together by a property");
const refused = events("%j is a 400 that records nothing");
const faulty = properties("$operation: $field");
const old = events("an old event starts and resumes nothing, but still ends runs and reaches goals");
const inBatch = events("each event succeeds or fails on its own, in the order sent: 207");
const repeated = events(
  "a repeated id answers with the first event and duplicate: true, and records nothing",
);

/** The event resource, its two operations, and what events do. */
export const eventSections: readonly Section[] = [
  {
    name: "Event, request",
    statements: [
      says("name: string, required", recorded, faulty),
      says("name: the prefix service. is reserved", refused, schemas("%s does not fit")),
      says("id: the caller's, optional", recorded),
      says("id: repeated, it answers the first event with duplicate: true", repeated),
      says("contact: required", refused, faulty),
      says(
        "contact: by email, externalId or id, any of them",
        recorded,
        fields("finds its person by contact id too"),
      ),
      says("properties: data, optional", recorded),
      says(
        "properties: names such as password, card_number and ssn are refused",
        refused,
        schemas("%s does not fit"),
      ),
      says("contactFields: set on the person", recorded, events("contactFields are set on the person")),
      says("occurredAt: when it happened, optional", recorded),
      says("occurredAt: a future time gives 400", refused),
      says(
        "createContact: false creates nobody for an unknown email",
        events("with createContact false an unknown address is NO_CONTACT"),
      ),
    ],
  },
  {
    name: "Event, response",
    statements: [
      says("id: string", receipt, whole),
      says("name: string", receipt, whole),
      says("contactId: string", receipt, whole),
      says(
        "duplicate: boolean, true for a repeated id",
        receipt,
        answers("an event's receipt, and a repeat of it"),
      ),
      says("outcome: PROCESSED", receipt, whole),
      says(
        "outcome: NO_CONTACT, nobody matched and creation was off",
        events("with createContact false an unknown address is NO_CONTACT"),
      ),
      says("outcome: TOO_OLD", events("72 hours are young enough, a millisecond more is TOO_OLD")),
      says("createdContact: boolean", receipt, whole),
      says("runsStarted: integer", receipt, runs),
      says("runsExited: integer, by exit rules or goals", receipt, runs),
      says("runsResumed: integer", receipt, runs),
      says("runsConverted: integer", receipt, runs),
      says(
        "note: string or null, why nothing started",
        receipt,
        fields("that starts nothing says why in its note"),
      ),
      says("the outcome is a result of one request, not a state", repeated),
    ],
  },
  {
    name: "Record an event",
    statements: [
      says(
        "POST /api/v1/events, scope events:write",
        properties("$operation is $method $path"),
        keys("%s %s without its scope is a 403"),
      ),
      says("answers 202 with the receipt", whole),
      says("processed at once: automations start, continue, stop", runs),
      says(
        "the person is found by email, externalId or id",
        fields("finds its person by contact id too"),
        events("an externalId is saved, and identifies the person from then on"),
      ),
      says("an unknown email becomes a contact", whole),
      says(
        "with createContact false it does not: NO_CONTACT",
        events("with createContact false an unknown address is NO_CONTACT"),
      ),
      says(
        "older than 72 hours is TOO_OLD",
        events("72 hours are young enough, a millisecond more is TOO_OLD"),
      ),
      says(
        "7 days for transactional automations",
        events("a transactional automation starts on events up to 7 days old"),
      ),
      says("too old starts nothing, but ends runs and reaches goals", old),
      says("a repeated id answers the first event, duplicate: true", repeated),
      says("403 from a browser", keys("with %j, as browsers send it, events and emails are a 403")),
    ],
  },
  {
    name: "Record a batch",
    statements: [
      says(
        "POST /api/v1/events/batch, scope events:write",
        properties("$operation is $method $path"),
        keys("%s %s without its scope is a 403"),
      ),
      says(
        "1 to 100 events",
        events("of a wrong size or shape is a 400 (%#)"),
        schemas("%s fits its schema", "%s does not fit"),
      ),
      says("answers 207", inBatch),
      says("each event behaves as if recorded alone, and succeeds or fails on its own", inBatch),
      says("accepted, rejected and results, in request order", inBatch, answers("a batch's answer")),
      says(
        "a good result has status 202, id, name, outcome, runsStarted and, when present, duplicate",
        inBatch,
      ),
      says(
        "only failed events are retried; those with an id are safe to resend",
        rules("only the failed events of a batch are sent again, with the same ids"),
      ),
      says("not shown: the error of a failed item", leftOpen("a failed item of a batch: %j")),
    ],
  },
  {
    name: "What events do",
    statements: [
      says("automations start on, wait for and end on an event", runs),
      says(
        "event properties appear in emails by a placeholder",
        leftOpen("a placeholder for an event's property stays as it is written"),
      ),
      says("counts of runs started, exited, resumed and converted come back", runs),
      says("service. is reserved for the service's own events", refused, faulty),
      says("a starting and an ending event are tied by a property", runs),
      says(
        "not shown: webhooks",
        leftOpen("there is no operation for webhooks, custom field definitions or signatures"),
      ),
    ],
  },
];
