import { Refusal, type Reply } from "../answer.ts";
import { isArray } from "../json.ts";
import type { CompanyRecord } from "../store/records.ts";
import { addContact, changeContact, timestamp, type Workspace } from "../store/workspace.ts";
import {
  bodyFields,
  type Call,
  invalid,
  notFound,
  readAddress,
  readFields,
  readObject,
  readText,
} from "./call.ts";

const readDomain: typeof readText = (value, field) => readText(value, field).toLowerCase();

const companyReaders = { companyName: readText, domain: readDomain, industry: readText };

type CompanyFields = Partial<Pick<CompanyRecord, keyof typeof companyReaders>>;

const readPeople = (people: unknown) => {
  if (!isArray(people)) throw invalid("contacts", "must be an array");
  return people.map((person, index) => {
    const field = `contacts[${index}]`;
    const fields = readObject(person, field);
    const details = readFields(fields, { name: readText, title: readText }, `${field}.`);
    return { ...details, email: readAddress(fields.email, `${field}.email`) };
  });
};

type Person = ReturnType<typeof readPeople>[number];

const linkPerson = (workspace: Workspace, { email, ...person }: Person, leadId: string): string => {
  const contact = workspace.contacts.byEmail(email);
  if (contact === undefined) return addContact(workspace, { ...person, email, leadId }).id;
  changeContact(workspace, contact, { ...person, leadId });
  return contact.id;
};

const change = (workspace: Workspace, company: CompanyRecord, fields: CompanyFields): void => {
  Object.assign(company, fields, { updatedAt: timestamp(workspace) });
};

const add = (workspace: Workspace, fields: CompanyFields): CompanyRecord => {
  const at = timestamp(workspace);
  const company = { id: workspace.services.newId("co"), createdAt: at, updatedAt: at, ...fields };
  workspace.companies.set(company.id, company);
  return company;
};

const withDomain = ({ companies }: Workspace, { domain }: CompanyFields): CompanyRecord | undefined =>
  domain === undefined ? undefined : [...companies.values()].find((company) => company.domain === domain);

const shown = (company: CompanyRecord, workspace: Workspace): object => ({
  ...company,
  contacts: workspace.contacts.all
    .filter(({ leadId }) => leadId === company.id)
    .map(({ id, email, name, title }) => ({ id, email, name, title })),
});

/** Creates a company with its people, or updates the one with the same domain. Returns ids. */
export const createCompany = (call: Call): Reply => {
  const { workspace } = call;
  const body = bodyFields(call);
  if (Object.keys(body).length === 0) throw new Refusal(400, "The body must have a field of a company.");
  const fields = readFields(body, companyReaders);
  const { contacts: people = [] } = readFields(body, { contacts: readPeople });
  const company = withDomain(workspace, fields);
  if (company !== undefined) change(workspace, company, fields);
  const { id } = company ?? add(workspace, fields);
  const contactIds = people.map((person) => linkPerson(workspace, person, id));
  return { status: company === undefined ? 201 : 200, body: { id, contactIds } };
};

export const updateCompany = (call: Call): Reply => {
  const { workspace } = call;
  const company = workspace.companies.get(call.id);
  if (company === undefined) throw notFound("company");
  const fields = readFields(bodyFields(call), companyReaders);
  const holder = withDomain(workspace, fields);
  if (holder !== undefined && holder !== company)
    throw new Refusal(409, "Another company already has this domain.");
  change(workspace, company, fields);
  return { status: 200, body: shown(company, workspace) };
};

/** Returns a page with the company of a domain, or an empty page. */
export const findCompany = ({ workspace, query }: Call): Reply => {
  const domain = readDomain(query.get("domain"), "domain");
  const company = withDomain(workspace, { domain });
  const data = company === undefined ? [] : [shown(company, workspace)];
  return { status: 200, body: { data, total: data.length, skip: 0, limit: 50 } };
};
