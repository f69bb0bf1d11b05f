import {
  answers,
  companies,
  companyCalls,
  contacts,
  emails,
  endpoints,
  errors,
  events,
  fields,
  keys,
  leftOpen,
  listFlow,
  lists,
  openTypes,
  properties,
  type Section,
  says,
} from "./document-statement.ts";

const carries = fields("carries %s as it was set");
const hasOwn = fields("has an id and times in UTC from the service");
const people = fields("is created with its people, who carry leadId");
const open = leftOpen("more fields of a contact, a company, a list and a receipt");

/** What the service does, its conventions, and the contact, company and list resources. */
export const resourceSections: readonly Section[] = [
  {
    name: "What the service does",
    statements: [
      says(
        "one document covers the whole interface",
        endpoints("every other operation is marked as inferred"),
      ),
      says("an HTTP JSON API behind an API key", properties("$operation is $method $path")),
      says("contacts are created, found and updated", properties("$operation is $method $path")),
      says("companies are created, found and updated", properties("$operation is $method $path")),
      says(
        "people are added to and removed from lists",
        lists("adding creates missing contacts, and adds none twice"),
      ),
      says(
        "events of a person start, resume and stop automations",
        events("start, resume, reach a goal and exit, tied together by a property"),
      ),
      says(
        "one email to one person leaves a connected mail account, now or at a time",
        emails(
          "answers 200 with the sent email, and records it",
          "is answered 201 with the scheduled email, and is sent at its time",
        ),
      ),
      says("every key acts inside one workspace", keys("each key acts inside its workspace")),
      says(
        "records of other workspaces are not found",
        errors("no operation finds records of another workspace"),
      ),
    ],
  },
  {
    name: "Conventions",
    statements: [
      says("bodies are JSON, both ways", properties("$operation is $method $path")),
      says(
        "a request with a body says Content-Type: application/json",
        properties("$operation is $method $path"),
      ),
      says(
        "every path begins with /api/v1 after the base URL",
        leftOpen("every path has the version the document describes, and no other"),
      ),
      says("identifiers are opaque strings", properties("$operation")),
      says("timestamps are ISO 8601", properties("$operation is $method $path", "$operation: $field")),
      says("timestamps of answers are in UTC", hasOwn),
      says(
        "placeholders stand for values",
        endpoints("%s %s is an operation, documented and with scopes %j"),
      ),
    ],
  },
  {
    name: "Contact",
    statements: [
      says("id: string", hasOwn),
      says("email: string", carries),
      says(
        "email: unique per workspace, a clash gives 409",
        contacts("an address that exists, in any case, is a 409"),
      ),
      says("name: string", carries),
      says("title: string", carries),
      says("phone: string", carries),
      says("linkedIn: profile URL, string", carries),
      says("notes: string or null", carries),
      says("stage: string", carries, answers("stages are matched as the contact field writes them")),
      says("source: string, MANUAL is one", carries),
      says("verified: boolean", carries),
      says("emailConfidence: number", carries),
      says("customFields: object", carries),
      says(
        "customFields: keys are the workspace's names, values fit each field's kind",
        contacts("%j is a 400 and changes nothing"),
      ),
      says(
        "leadId: the company of the contact",
        carries,
        companies("a contact can be moved to a company of its workspace"),
      ),
      says("listIds: the lists of the contact", carries),
      says("createdAt, updatedAt: timestamps", hasOwn),
      says(
        "an externalId may come with a contact",
        fields("carries an externalId once an event has supplied it, which then identifies the person"),
      ),
      says(
        "an event saves it, and later events identify by it alone",
        events("an externalId is saved, and identifies the person from then on"),
      ),
      says(
        "not shown: all stages",
        leftOpen("every %s of a contact, known or not"),
        openTypes("known values of stage, source and status complete, and others are accepted"),
      ),
      says(
        "not shown: other sources",
        leftOpen("every %s of a contact, known or not"),
        openTypes("known values of stage, source and status complete, and others are accepted"),
      ),
    ],
  },
  {
    name: "Company",
    statements: [
      says("companyName: string", people),
      says("domain: string", people),
      says(
        "domain: unique; creating with a known one updates",
        companies("the same domain, in any case, updates the company and its people"),
      ),
      says("industry: string", people),
      says("contacts: people with email, name, title", people),
      says(
        "called lead in scope names and leadId",
        people,
        endpoints("%s %s is an operation, documented and with scopes %j"),
      ),
      says("not shown: other fields", open, companyCalls("an update may be answered without a body")),
    ],
  },
  {
    name: "List",
    statements: [
      says(
        "a named group of contacts with an id",
        listFlow("people are added to a list and taken off it, and keep their other lists"),
      ),
      says("name: unique, a clash gives 409", lists("a list has a name that no other has")),
      says("not shown: other fields", open),
    ],
  },
];
