import { expect, test } from "vitest";
import { Client, ConfigurationError } from "../../../src/index.ts";
import { served } from "../resources/served.ts";

const withRoutes = (routes: Readonly<Record<string, string>>) => () =>
  new Client({ apiKey: "key", baseUrl: "https://service.test", routes });

test("a corrected route puts the id where it says", async () => {
  const routes = {
    "emails.scheduled.cancel": "/api/v2/scheduled/:id/cancel",
    "companies.create": "/v1/leads:add",
    "lists.addContacts": "/api/v1/lists/:id/emails",
  };
  const { client, requests } = served([[204], [200, { id: "co-1" }], [200, {}]], { routes });
  await client.emails.scheduled.cancel("a/b");
  await client.companies.create({ companyName: "x" });
  await client.lists.addContacts("li-1", ["ada@example.com"]);
  expect(requests.map(({ path }) => path)).toEqual([
    "/api/v2/scheduled/a%2Fb/cancel",
    "/v1/leads:add",
    "/api/v1/lists/li-1/emails",
  ]);
});

test.each([
  [
    "emails.scheduled.cancel",
    "/api/v1/scheduled",
    'routes["emails.scheduled.cancel"] must have /:id for the id, like /api/v1/emails/scheduled/:id has',
  ],
  [
    "contacts.update",
    "/contacts/:id/:id",
    'routes["contacts.update"] must have /:id for the id, like /api/v1/contacts/:id has',
  ],
  [
    "contacts.update",
    "/contacts/{id}",
    'routes["contacts.update"] must have /:id for the id, like /api/v1/contacts/:id has',
  ],
  [
    "contacts.update",
    "/contacts/:id/:name",
    'routes["contacts.update"]: the operation has no value for the placeholder :name. Write the value itself into the path',
  ],
  [
    "companies.create",
    "/companies/:id",
    'routes["companies.create"]: the operation has no value for the placeholder :id. Write the value itself into the path',
  ],
  [
    "companies.findByDomain",
    "/companies/by-domain/{domain}",
    'routes["companies.findByDomain"]: the operation has no value for the placeholder {domain}. Write the value itself into the path',
  ],
  ["contacts.create", "/api/v1/\u20ac", "must be a path of visible ASCII"],
])("a route of %s to %s is refused", (operation, path, message) => {
  const make = withRoutes({ [operation]: path });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});

test("every fault of the routes is named at once", () => {
  expect(
    withRoutes({
      "contacts.find": "/x",
      constructor: "/x",
      "contacts.list": "x",
      "lists.addContacts": "/lists",
    }),
  ).toThrow(
    [
      'routes: there is no operation "contacts.find"',
      'routes: there is no operation "constructor"',
      'routes["contacts.list"] must be a path of visible ASCII characters that starts with a single / and has no query and no dot segments; a method may precede it',
      'routes["lists.addContacts"] must have /:id for the id, like /api/v1/lists/:id/contacts has',
    ].join("; "),
  );
});
