// Creates a company with its people in one call, finds it by domain, and changes it.
// The service's API document does not give the paths to create and find: if they are wrong, correct them with `routes`.
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

// The service updates a company with the same domain. It does not create a second one.
await client.companies.create({ companyName: "Bletchley Computing Ltd", domain: "bletchley.example" });

const company = await client.companies.findByDomain("BLETCHLEY.example");
console.log(company?.id === id, company?.companyName);
if (company?.id) await client.companies.update(company.id, { industry: "Machines" });

// Its people are contacts. Their `leadId` is the company's id.
const joan = await client.contacts.find("joan@bletchley.example");
console.log(joan?.name, joan?.leadId === id);

await client.close();
