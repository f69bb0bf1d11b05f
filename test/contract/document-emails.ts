import {
  answers,
  emailCalls,
  emailFlow,
  emails,
  emailTypes,
  endpoints,
  errors,
  fields,
  keys,
  leftOpen,
  limits,
  openTypes,
  properties,
  rules,
  type Section,
  says,
  schemas,
} from "./document-statement.ts";

const receipt = fields("'s receipt has %s");
const sent = emails("answers 200 with the sent email, and records it");
const scheduled = emails("is answered 201 with the scheduled email, and is sent at its time");
const refused = emails("%j is a %i and sends nothing");
const again = emails("every check runs again when it is sent");
const later = rules(
  "a scheduled email gets the signature and tracking of the time of sending, not of scheduling",
);
const byStage = emails("to a contact in stage %s only with force");
const wire = properties("$operation is $method $path");
const faulty = properties("$operation: $field");
const openSets = openTypes("known values of stage, source and status complete, and others are accepted");

/** Sent and scheduled emails, signatures, custom fields, stages, and the email operations. */
export const emailSections: readonly Section[] = [
  {
    name: "Sent email",
    statements: [
      says("id: the mail account's message id", receipt, sent),
      says("to: string", receipt, sent),
      says("cc: array", receipt, sent),
      says("from: name and address of the sending account", receipt, sent),
      says("subject: string", receipt, sent),
      says("sentAt: timestamp", receipt, sent),
      says("tracked: boolean", receipt, fields("is tracked where the workspace has a tracking domain")),
      says("contactId: string", receipt, sent),
      says(
        "contactCreated: true when this send created the contact",
        receipt,
        emails("a known recipient is not created again"),
      ),
    ],
  },
  {
    name: "Scheduled email, signature, custom field",
    statements: [
      says(
        "a scheduled email has id, status and sendAt",
        fields("for later has an id, the status SCHEDULED and its time on top"),
        answers("a scheduled email"),
      ),
      says("not shown: its other fields", leftOpen("every status of a scheduled email, known or not")),
      says(
        "signatureId: string, default is accepted",
        emails("the default signature and those of the workspace are known"),
      ),
      says(
        "not shown: fields of a signature",
        leftOpen("there is no operation for webhooks, custom field definitions or signatures"),
      ),
      says("customFields keys are names that the workspace defines", errors("%s is a %i")),
      says(
        "custom field names are unique (409)",
        errors("%i on a send is its own error, with the service's sentence"),
        leftOpen("there is no operation for webhooks, custom field definitions or signatures"),
      ),
      says(
        "not shown: operations and fields of their definitions",
        leftOpen("there is no operation for webhooks, custom field definitions or signatures"),
      ),
    ],
  },
  {
    name: "States and transitions",
    statements: [
      says(
        "stages replied, bounced, unsubscribed, converted, dead, upper-case in the field",
        byStage,
        answers("stages are matched as the contact field writes them"),
      ),
      says("other stages may exist", leftOpen("every %s of a contact, known or not"), openSets),
      says("a send to one of the five is a 400 unless force: true", byStage),
      says(
        "not shown: transitions; a caller sets stage by an update",
        fields("takes another stage through an update"),
      ),
      says("SCHEDULED when accepted with sendAt", scheduled),
      says(
        "sent within about a minute after sendAt",
        emails("a long advance still sends the email at its scheduled time"),
      ),
      says(
        "waits while the account has used its day, then goes out",
        emails("waits while the account has used up its day"),
        rules("a scheduled email waits if immediate sends have used up its account's capacity"),
      ),
      says(
        "other statuses: no more than this",
        leftOpen("every status of a scheduled email, known or not"),
        openSets,
      ),
    ],
  },
  {
    name: "Send an email",
    statements: [
      says(
        "POST /api/v1/emails, scope email:write, to one person",
        wire,
        keys("%s %s without its scope is a 403"),
      ),
      says("answers 200 with the sent email", sent),
      says("answers 201 when sendAt is there", scheduled),
      says("to: address, required", refused, faulty),
      says("subject: required", refused, faulty),
      says(
        "html, text: exactly one of them",
        refused,
        schemas("%s does not fit"),
        emailTypes("an email carries html or text, and not both"),
      ),
      says("signatureId: optional, must exist, else 404", refused),
      says("force: optional, allows the five stages", byStage),
      says(
        "sendAt: optional, ISO 8601 with a zone, schedules",
        refused,
        faulty,
        emailTypes("send takes no sendAt, schedule needs one"),
      ),
      says(
        "not shown: how to turn tracking off, cc of the request",
        leftOpen("more body fields, such as those that turn tracking off or add a cc, go out as given"),
      ),
    ],
  },
  {
    name: "Send rules",
    statements: [
      says(
        "it leaves from the mail account the key is tied to",
        emails("the email leaves from the account its key is tied to"),
      ),
      says(
        "a disconnected account refuses with 400",
        emails("a disconnected account is a 400, a failing one a 502 with its sentence"),
      ),
      says(
        "the recipient becomes a contact",
        emailFlow("an email is sent, and its recipient becomes a contact"),
      ),
      says(
        "the email is recorded in their history",
        fields("is sent with a plain-text version of its HTML, and is in the recipient's history"),
      ),
      says(
        "opens and clicks are tracked when there is a tracking domain",
        fields("is tracked where the workspace has a tracking domain"),
      ),
      says(
        "each can be turned off per email",
        leftOpen("more body fields, such as those that turn tracking off or add a cc, go out as given"),
      ),
      says("the do-not-email list always refuses (400)", refused),
      says("the five stages refuse (400) unless force: true", byStage),
      says(
        "a plain-text version is made of the HTML",
        fields("is sent with a plain-text version of its HTML, and is in the recipient's history"),
      ),
      says(
        "with sendAt it is checked at once and kept",
        emails("a faulty email is refused at once"),
        scheduled,
      ),
      says(
        "201 with scheduled: true and the scheduled email",
        scheduled,
        emailCalls("a scheduled email that is answered %s has its id on top"),
      ),
      says("when it goes out the do-not-email list is checked again", again),
      says("when it goes out the contact's stage is checked again", again),
      says("when it goes out the signature is checked again", later),
      says("when it goes out tracking is decided again", later),
      says(
        "when it goes out the account's daily limit is checked again",
        limits("a scheduled email draws on the key now and on the account when it is sent"),
      ),
      says(
        "scheduled emails can be listed, changed and cancelled under /api/v1/emails/scheduled",
        emails(
          "can be listed, changed and cancelled until it is sent",
          "a cancelled one is never sent, and is not found again",
        ),
        wire,
      ),
      says("not shown: their methods and shapes", endpoints("every other operation is marked as inferred")),
    ],
  },
];
