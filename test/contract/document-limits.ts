import {
  answers,
  contacts,
  emails,
  errors,
  events,
  leftOpen,
  limits,
  lists,
  properties,
  rules,
  type Section,
  says,
  schemas,
} from "./document-statement.ts";

const operation = errors("%s is a %i");
const event = errors("record event: %s is a %i");
const unrecorded = events("%j is a 400 that records nothing");
const unsent = emails("%j is a %i and sends nothing");
const paced = rules("the client paces itself by the document's numbers");
const whole = limits("are the document's numbers");
const accountDay = limits("a mail account's used-up day has its own sentence");

/** Errors per operation, limits and versioning. */
export const limitSections: readonly Section[] = [
  {
    name: "Errors per operation",
    statements: [
      says("update contact 400: invalid value, unknown custom field, wrong kind", operation),
      says(
        "update contact 404: id not in the workspace",
        contacts("an unknown id is a 404, also one of another workspace"),
      ),
      says("update contact 409: email of another", operation),
      says("create contact 409: email exists", errors("create contact: an email that exists is a 409")),
      says("record event 400: name or contact missing or invalid", unrecorded),
      says("record event 400: properties too big or with a secret-like name", event, unrecorded),
      says("record event 400: occurredAt in the future", event, unrecorded),
      says("record event 404: contact.id not in the workspace", event),
      says("record event 409: email and externalId of two contacts", event),
      says("send email 400: to or subject missing", unsent),
      says("send email 400: both or neither of html and text", unsent),
      says("send email 400: invalid address", unsent),
      says("send email 400: refused stage without force", emails("to a contact in stage %s only with force")),
      says("send email 400: do-not-email list", unsent),
      says(
        "send email 400: account no longer connected",
        emails("a disconnected account is a 400, a failing one a 502 with its sentence"),
      ),
      says("send email 404: signatureId not in the workspace", unsent),
      says("send email 429: account's daily limit", accountDay),
      says(
        "send email 429: a rate limit",
        limits("the 51st event in a second and the 21st email in a minute are a 429"),
      ),
      says(
        "send email 502: the account refused or failed",
        emails("a disconnected account is a 400, a failing one a 502 with its sentence"),
      ),
      says("not shown: the error of a failed batch item", leftOpen("a failed item of a batch: %j")),
    ],
  },
  {
    name: "Limits",
    statements: [
      says(
        "100 requests per 10 seconds, per key",
        whole,
        paced,
        limits(
          "the 101st request in 10 seconds is a 429 with Retry-After",
          "requests count per key, events per workspace",
        ),
      ),
      says(
        "50,000 requests per day, per key",
        whole,
        paced,
        limits("50,000 requests, 100,000 events and 300 emails are a day's worth"),
      ),
      says(
        "20 emails per minute",
        whole,
        paced,
        limits("the 51st event in a second and the 21st email in a minute are a 429"),
      ),
      says(
        "300 emails per day",
        whole,
        paced,
        limits("50,000 requests, 100,000 events and 300 emails are a day's worth"),
      ),
      says(
        "emails: per key, and per mail account across all keys",
        limits("emails count per key and per mail account across all keys"),
      ),
      says(
        "the account's daily limit is shared by all that it sends",
        accountDay,
        rules("a scheduled email waits if immediate sends have used up its account's capacity"),
      ),
      says(
        "50 events per second, per workspace",
        whole,
        paced,
        limits("requests count per key, events per workspace"),
      ),
      says(
        "100,000 events per day, per workspace",
        whole,
        paced,
        limits("50,000 requests, 100,000 events and 300 emails are a day's worth"),
      ),
      says(
        "events count beside the key's limits",
        limits(
          "each event counts; a batch without room is refused whole",
          "a request that one limit refuses draws on no other",
        ),
      ),
      says(
        "100 events per request",
        schemas("%s fits its schema", "%s does not fit"),
        events("of a wrong size or shape is a 400 (%#)"),
      ),
      says(
        "1,000 addresses per call",
        schemas("%s fits its schema", "%s does not fit"),
        lists("a thousand addresses pass"),
      ),
      says(
        "72 hours, or 7 days, after which an event starts nothing",
        events(
          "72 hours are young enough, a millisecond more is TOO_OLD",
          "a transactional automation starts on events up to 7 days old",
        ),
      ),
      says(
        "page size 1 to 200, default 50",
        contacts("%s is a 400", "a page holds 50 when no limit is given"),
        properties("$operation: $field"),
      ),
      says(
        "a scheduled email goes out about a minute after sendAt",
        emails("is answered 201 with the scheduled email, and is sent at its time"),
      ),
      says(
        "over a limit: 429 with Retry-After in seconds",
        answers("an error, as JSON, with Retry-After in whole seconds on a 429"),
      ),
      says(
        "retrying earlier yields more 429",
        limits("a refused request costs nothing, so waiting Retry-After is always enough"),
      ),
      says("not shown: the largest properties and body", leftOpen("properties of any size are sent")),
      says(
        "one-off emails only; bulk sending is elsewhere",
        rules("a sent email has one recipient, given as one string"),
      ),
    ],
  },
  {
    name: "Versioning",
    statements: [
      says(
        "the version is in the path prefix /api/v1",
        leftOpen("every path has the version the document describes, and no other"),
      ),
      says(
        "not shown: deprecation and compatibility",
        leftOpen("every path has the version the document describes, and no other"),
      ),
    ],
  },
];
