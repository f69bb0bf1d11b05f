import {
  companies,
  companyCalls,
  contacts,
  endpoints,
  errors,
  fields,
  keys,
  leftOpen,
  listCalls,
  lists,
  properties,
  rules,
  type Section,
  says,
} from "./document-statement.ts";

const wire = properties("$operation is $method $path");
const scoped = endpoints("%s %s succeeds in the sandbox with exactly scopes %j");
const unscoped = keys("%s %s without its scope is a 403");
const inferred = endpoints("every other operation is marked as inferred");

/** The operations of contacts, companies and lists. */
export const endpointSections: readonly Section[] = [
  {
    name: "Endpoints",
    statements: [
      says("every call needs authentication", errors("%s %s without a valid key is a 401")),
      says(
        "errors follow the errors part",
        errors("%i on a send is its own error, with the service's sentence"),
      ),
    ],
  },
  {
    name: "Contacts",
    statements: [
      says("POST /api/v1/contacts, scope contacts:write", wire, scoped, unscoped),
      says(
        "body: email, name, customFields, leadId, other contact fields",
        wire,
        fields("carries %s as it was set"),
      ),
      says("returns the contact", contacts("answers the contact with the service's own fields")),
      says("409 when the email exists", errors("create contact: an email that exists is a 409")),
      says(
        "not shown: other body fields",
        leftOpen("more fields of a new contact, a patch and a company go out as given"),
      ),
      says("not shown: the success status", leftOpen("a contact created with %i")),
      says("GET /api/v1/contacts", wire, scoped),
      says("its scope is not stated", leftOpen("a key without scopes may list contacts")),
      says(
        "search: matches for example an email",
        contacts("a search finds part of an address or a name, in any case"),
      ),
      says(
        "skip: integer",
        contacts("answers a page with total, skip and limit, oldest first", "%s is a 400"),
      ),
      says(
        "limit: integer 1 to 200, 50 when not given",
        contacts("a page holds 50 when no limit is given", "%s is a 400"),
      ),
      says(
        "returns { data, total, skip, limit }",
        contacts("answers a page with total, skip and limit, oldest first"),
      ),
      says("not shown: other query parameters", leftOpen("more query parameters go out as given")),
      says("PATCH /api/v1/contacts/:id, scope contacts:write", wire, scoped, unscoped),
      says(
        "body: only the fields to change; returns the contact",
        contacts("only fields sent are changed, and updatedAt"),
      ),
      says("updatable: email", contacts("a changed address is found under the new one only")),
      says("updatable: stage", fields("takes another stage through an update")),
      says("updatable: customFields", contacts("custom fields merge key by key, null clears")),
      says("updatable: listIds", lists("listIds of a contact replaces its lists entirely")),
      says(
        "not shown: all updatable fields",
        leftOpen("more fields of a new contact, a patch and a company go out as given"),
      ),
    ],
  },
  {
    name: "PATCH rules",
    statements: [
      says("1: only fields sent are changed", contacts("only fields sent are changed, and updatedAt")),
      says(
        "2: listIds replaces the lists entirely",
        lists("listIds of a contact replaces its lists entirely"),
      ),
      says(
        "2: membership operations leave other lists alone",
        lists("removing leaves the people and their other lists"),
      ),
      says(
        "3: customFields changes only the keys sent",
        contacts("custom fields merge key by key, null clears"),
      ),
      says("3: null clears a key", contacts("custom fields merge key by key, null clears")),
      says("4: 400 for an invalid value", contacts("%j is a 400 and changes nothing")),
      says("4: 400 for an unknown custom field or a wrong kind", contacts("%j is a 400 and changes nothing")),
      says(
        "5: 404 for an id not in the workspace",
        contacts("an unknown id is a 404, also one of another workspace"),
      ),
      says(
        "6: 409 when another contact has the new email",
        contacts("another contact's address is a 409, one's own in another case is not"),
      ),
    ],
  },
  {
    name: "Companies",
    statements: [
      says("create: scopes leads:write and contacts:write", unscoped),
      says(
        "create: body companyName, domain, industry, contacts",
        wire,
        fields("is created with its people, who carry leadId"),
      ),
      says(
        "create: company and people in one call",
        companies("a company comes with its people, and answers ids"),
      ),
      says(
        "create: the same domain is updated, not duplicated",
        companies("the same domain, in any case, updates the company and its people"),
      ),
      says("create: returns ids", companyCalls("the ids of a new company are found in %s")),
      says("PATCH /api/v1/companies/:id, scope leads:write", wire, scoped, unscoped),
      says(
        "updates a company",
        companies("an update changes the fields sent; a domain that is taken is a 409"),
      ),
      says("not shown: the create path", inferred, companyCalls("a corrected route is the one that is used")),
      says(
        "not shown: find by domain",
        inferred,
        companyCalls("a company is found by its domain, in any case, in %s"),
      ),
      says(
        "not shown: the update body",
        leftOpen("more fields of a new contact, a patch and a company go out as given"),
      ),
    ],
  },
  {
    name: "Lists",
    statements: [
      says("POST /api/v1/lists/:id/contacts, scopes lists:write and contacts:write", wire, scoped, unscoped),
      says(
        "add: body emails, at most 1,000",
        lists("wrong addresses are a 400 (%#)", "a thousand addresses pass"),
        listCalls("addresses go out 1,000 a request, and each answer comes back in its place"),
      ),
      says(
        "add: unknown emails become contacts",
        lists("adding creates missing contacts, and adds none twice"),
      ),
      says("DELETE /api/v1/lists/:id/contacts, the same scopes", wire, scoped, unscoped),
      says(
        "remove: body emails, at most 1,000",
        lists("wrong addresses are a 400 (%#)"),
        listCalls("removing sends a DELETE with the addresses"),
      ),
      says(
        "remove: takes those people off the list",
        lists("removing leaves the people and their other lists"),
      ),
      says("not shown: the create path", inferred),
      says("not shown: what add and remove answer", leftOpen("%j for a change of a list")),
    ],
  },
  {
    name: "Paging",
    statements: [
      says(
        "lists answer { data, total, skip, limit }",
        contacts("answers a page with total, skip and limit, oldest first"),
      ),
      says(
        "skip is how many records to skip",
        rules("without a limit a page holds 50 contacts, and skip leaves out those before it"),
      ),
      says(
        "the last page: skip + data.length >= total",
        rules("a list of contacts ends with the page that reaches the total, an exactly full one too"),
      ),
    ],
  },
];
