// Companies: created with their people in one call, found by domain, changed.
// The document gives neither the path to create nor the one to find: `routes` corrects them without a release.
import { Client } from "touchpoint-sdk";

const client = new Client();

const { id } = await client.companies.create({
  companyName: "Bletchley Computing",
  domain: "bletchley.example",
  industry: "Computing",
  contacts: [
    { email: "joan@bletchley.example", name: "Joan Clarke", title: "Cryptanalyst" },
    { email: "mavis@bletchley.example", name: "Mavis Batey", title: "Code breaker" },
  ],
});

// A company with the same domain is updated, not duplicated.
await client.companies.create({ companyName: "Bletchley Computing Ltd", domain: "bletchley.example" });

const company = await client.companies.findByDomain("BLETCHLEY.example");
console.log(company?.id === id, company?.companyName);
if (company?.id) await client.companies.update(company.id, { industry: "Machines" });

// Its people are contacts that carry the company's id.
const joan = await client.contacts.find("joan@bletchley.example");
console.log(joan?.name, joan?.leadId === id);

await client.close();
