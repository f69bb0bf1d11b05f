import { Refusal, type Reply } from "../answer.ts";
import { type Fields, has, isArray, isFields } from "../json.ts";
import type { CompanyRecord, ContactRecord } from "../store/records.ts";
import { addContact, changeContact, timestamp, type Workspace } from "../store/workspace.ts";
import { bodyFields, type Call, notFound } from "./call.ts";
import { invalid, readAddress, readOptionalText, readText } from "./values.ts";

interface Person {
  readonly email: string;
  readonly name?: string;
  readonly title?: string;
}

type CompanyFields = Partial<Pick<CompanyRecord, "companyName" | "domain" | "industry">>;

const readFields = (fields: Fields): CompanyFields => {
  const companyName = readOptionalText(fields, "companyName");
  const domain = readOptionalText(fields, "domain")?.toLowerCase();
  const industry = readOptionalText(fields, "industry");
  return {
    ...(companyName === undefined ? {} : { companyName }),
    ...(domain === undefined ? {} : { domain }),
    ...(industry === undefined ? {} : { industry }),
  };
};

const readPeople = (fields: Fields): Person[] => {
  const people = has(fields, "contacts") ? fields.contacts : [];
  if (!isArray(people)) throw invalid("contacts", "must be an array");
  return people.map((person, index) => {
    const field = `contacts[${index}]`;
    if (!isFields(person)) throw invalid(field, "must be an object");
    const name = readOptionalText(person, "name");
    const title = readOptionalText(person, "title");
    return {
      email: readAddress(person.email, `${field}.email`),
      ...(name === undefined ? {} : { name }),
      ...(title === undefined ? {} : { title }),
    };
  });
};

const place = (workspace: Workspace, person: Person, leadId: string): ContactRecord => {
  const known = workspace.contacts.byEmail(person.email);
  if (known === undefined) return addContact(workspace, { ...person, leadId });
  const { email: _same, ...fields } = person;
  changeContact(workspace, known, { ...fields, leadId });
  return known;
};

const change = (workspace: Workspace, company: CompanyRecord, fields: CompanyFields): void => {
  if (company.domain !== undefined) workspace.companiesByDomain.delete(company.domain);
  Object.assign(company, fields, { updatedAt: timestamp(workspace) });
  if (company.domain !== undefined) workspace.companiesByDomain.set(company.domain, company);
};

const add = (workspace: Workspace, fields: CompanyFields): CompanyRecord => {
  const at = timestamp(workspace);
  const company = { id: workspace.services.newId("co"), ...fields, createdAt: at, updatedAt: at };
  workspace.companies.set(company.id, company);
  if (company.domain !== undefined) workspace.companiesByDomain.set(company.domain, company);
  return company;
};

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
  const fields = readFields(body);
  const people = readPeople(body);
  const known = fields.domain === undefined ? undefined : workspace.companiesByDomain.get(fields.domain);
  if (known !== undefined) change(workspace, known, fields);
  const company = known ?? add(workspace, fields);
  const contactIds = people.map((person) => place(workspace, person, company.id).id);
  return { status: known === undefined ? 201 : 200, body: { id: company.id, contactIds } };
};

/** Changes the given fields. */
export const updateCompany = (call: Call): Reply => {
  const { workspace } = call;
  const company = workspace.companies.get(call.id);
  if (company === undefined) throw notFound("company");
  const fields = readFields(bodyFields(call));
  const holder = fields.domain === undefined ? undefined : workspace.companiesByDomain.get(fields.domain);
  if (holder !== undefined && holder !== company) {
    throw new Refusal(409, "Another company already has this domain.");
  }
  change(workspace, company, fields);
  return { status: 200, body: shown(company, workspace) };
};

/** Returns a page with the company of a domain, or an empty page. */
export const findCompany = ({ workspace, query }: Call): Reply => {
  const domain = readText(query.get("domain") ?? undefined, "domain").toLowerCase();
  const company = workspace.companiesByDomain.get(domain);
  const data = company === undefined ? [] : [shown(company, workspace)];
  return { status: 200, body: { data, total: data.length, skip: 0, limit: 50 } };
};
