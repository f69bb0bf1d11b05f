import type { Client, Company, CompanyCreated, List, MembersReport } from "touchpoint-sdk";
import { describe, expectTypeOf, test } from "vitest";

declare const client: Client;

describe("companies", () => {
  const { companies } = client;

  test("one is created with or without people", () => {
    expectTypeOf(companies.create({ domain: "example.com" })).resolves.toEqualTypeOf<CompanyCreated>();
    companies.create({ companyName: "Example", contacts: [{ email: "ada@example.com", title: "CTO" }] });
    // @ts-expect-error the service says companyName
    companies.create({ name: "Example" });
    // @ts-expect-error people, not a person
    companies.create({ contacts: { email: "ada@example.com" } });
    // @ts-expect-error a person has an address
    companies.create({ contacts: [{ name: "Ada" }] });
    // @ts-expect-error a person of a company has no stage
    companies.create({ contacts: [{ email: "ada@example.com", stage: "DEAD" }] });
    // @ts-expect-error a new company has nothing to clear
    companies.create({ industry: null });
    // @ts-expect-error no such option
    companies.create({ domain: "example.com" }, { once: "key" });
  });

  test("an update takes its fields, and no people", () => {
    expectTypeOf(companies.update("id", { industry: "Shipping" })).resolves.toEqualTypeOf<Company>();
    companies.update("id", {});
    // @ts-expect-error the id comes first
    companies.update({ industry: "Shipping" }, "id");
    // @ts-expect-error what changes is given
    companies.update("id");
    // @ts-expect-error people come with a creation
    companies.update("id", { contacts: [{ email: "ada@example.com" }] });
    // @ts-expect-error the document clears no field of a company
    companies.update("id", { industry: null });
  });

  test("one is found by its domain, or none", () => {
    expectTypeOf(companies.findByDomain("example.com")).resolves.toEqualTypeOf<Company | null>();
    // @ts-expect-error the domain itself
    companies.findByDomain({ domain: "example.com" });
    // @ts-expect-error of which domain?
    companies.findByDomain();
    companies.findByDomain("example.com").then((found) => {
      // @ts-expect-error there may be none
      found.industry;
    });
  });
});

describe("lists", () => {
  const { lists } = client;

  test("one is created by its name", () => {
    expectTypeOf(lists.create({ name: "Customers" })).resolves.toEqualTypeOf<List>();
    // @ts-expect-error a field, not a string
    lists.create("Customers");
    // @ts-expect-error the name is required
    lists.create({});
    // @ts-expect-error members are added afterwards
    lists.create({ name: "Customers", emails: ["ada@example.com"] });
  });

  test("addresses come from an array, a set or a stream, and are no string", () => {
    const stream = async function* () {
      yield "ada@example.com";
    };
    expectTypeOf(lists.addContacts("id", new Set([""]))).resolves.toEqualTypeOf<MembersReport>();
    expectTypeOf(lists.removeContacts("id", stream())).resolves.toEqualTypeOf<MembersReport>();
    lists.addContacts("id", stream());
    lists.removeContacts("id", ["ada@example.com"] as const, { timeoutMs: 1 });
    // @ts-expect-error one string would be read letter by letter
    lists.addContacts("id", "ada@example.com");
    // @ts-expect-error one string would be read letter by letter
    lists.removeContacts("id", "ada@example.com");
    // @ts-expect-error addresses, not contacts
    lists.addContacts("id", [{ email: "ada@example.com" }]);
    // @ts-expect-error addresses, not contacts
    lists.removeContacts("id", [{ email: "ada@example.com" }]);
    // @ts-expect-error the list comes first
    lists.addContacts(["ada@example.com"], "id");
    // @ts-expect-error the list comes first
    lists.removeContacts(["ada@example.com"], "id");
  });
});
