import {
  answers,
  companies,
  contacts,
  emailFlow,
  emails,
  endpoints,
  errors,
  keys,
  leftOpen,
  lists,
  pauses,
  properties,
  retries,
  type Section,
  says,
} from "./document-statement.ts";

const table = errors("%i on a send is its own error, with the service's sentence");
const roles = keys("the role of the key's creator can forbid writing, or only sending");
const browsers = keys("with %j, as browsers send it, events and emails are a 403");

/** Authentication and the errors table. */
export const conditionSections: readonly Section[] = [
  {
    name: "Authentication",
    statements: [
      says("Authorization: Bearer <key> on every call", properties("$operation is $method $path")),
      says(
        "each operation needs its scope, of five",
        endpoints("%s %s succeeds in the sandbox with exactly scopes %j"),
      ),
      says(
        "for email a key is locked to one mail account",
        emails("the email leaves from the account its key is tied to"),
      ),
      says("a role that no longer allows the operation gives 403", roles),
      says(
        "401: missing, invalid, revoked or expired key",
        keys("authorization %j is a 401"),
        errors("a revoked and an expired key are an AuthenticationError"),
      ),
      says("403: missing scope", keys("%s %s without its scope is a 403")),
      says("403: events from a browser", browsers),
      says("not shown: scopes of read operations", leftOpen("a key without scopes may list contacts")),
    ],
  },
  {
    name: "Errors",
    statements: [
      says(
        "an error status and { error: message }",
        table,
        answers("an error, as JSON, with Retry-After in whole seconds on a 429"),
      ),
      says("the message can be shown to a person", table),
      says(
        "400: a field is missing or invalid, the message says which",
        table,
        contacts("%j is a 400 that names the field"),
      ),
      says("401: key missing, invalid, revoked, expired", table, keys("authorization %j is a 401")),
      says("403: scope, role, browser, or a creator who can no longer send", table, roles, browsers),
      says(
        "404: no record with the id, also of other workspaces",
        table,
        errors("no operation finds records of another workspace"),
      ),
      says("409: contact email", table, contacts("an address that exists, in any case, is a 409")),
      says(
        "409: company domain",
        table,
        companies("an update changes the fields sent; a domain that is taken is a 409"),
      ),
      says("409: list name", table, lists("a list has a name that no other has")),
      says(
        "409: field name",
        table,
        leftOpen("there is no operation for webhooks, custom field definitions or signatures"),
      ),
      says(
        "429: wait the seconds of Retry-After",
        table,
        errors("a 429 says how long to wait, from the seconds of Retry-After"),
      ),
      says(
        "500: server-side, retry later",
        table,
        retries("a 500 that names a time is not followed by a request before it"),
      ),
      says(
        "502: the mail account refused or failed, the message says why",
        table,
        emailFlow("a mail account that fails says why, and the email is not repeated"),
      ),
      says(
        "503: briefly unavailable, retry later",
        table,
        pauses("a 503 stops its budget only when it names a time"),
      ),
    ],
  },
];
