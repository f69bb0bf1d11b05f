import * as z from "zod/mini";
import { isRecord } from "../runtime/values.ts";
import {
  anyPage,
  anyRecord,
  changed,
  EmailAddress,
  each,
  inputOf,
  isArray,
  isId,
  objectOf,
  QueryText,
  type Schema,
  Text,
  textOf,
  zodOf,
} from "./common.ts";
import { operation } from "./define.ts";

/** A person of a company, as the service returns it. Source: service document, Company, `contacts`. */
export interface CompanyContact {
  /** The person's address. */
  email: string;
  /** Full name. */
  name?: string | null | undefined;
  /** Job title. */
  title?: string | null | undefined;
}
const CompanyContact = objectOf<CompanyContact>(() => ({
  email: z.string(),
  ...each(z.nullish(z.string()), "name", "title"),
}));

/**
 * A company (a lead, in scope names). The document names only these fields; other fields are kept.
 *
 * Source: service document, Company.
 */
export interface Company {
  /** An opaque string; absent at run time if the service returns it under an unexpected name. */
  id: string;
  /** The company's name. */
  companyName?: string | null | undefined;
  /** Unique per workspace. */
  domain?: string | null | undefined;
  /** The line of business. */
  industry?: string | null | undefined;
  /** The people of the company; absent if the service leaves them out. */
  contacts?: CompanyContact[] | null | undefined;
}
/** Checks a company as the service returns it. */
export const Company: Schema<Company> = objectOf<Company>(() => ({
  id: z.string(),
  ...each(z.nullish(z.string()), "companyName", "domain", "industry"),
  contacts: z.nullish(z.array(CompanyContact)),
}));

/**
 * A person created together with a company.
 *
 * Source: service document, Company, `contacts`.
 */
export interface CompanyPerson {
  /** The person's address: text, an `@` and text. */
  email: string;
  /** Full name. */
  name?: string | undefined;
  /** Job title. */
  title?: string | undefined;
}
export const CompanyPerson: Schema<CompanyPerson> = inputOf<CompanyPerson>(() => ({
  email: EmailAddress,
  ...each(z.optional(z.string("must be a string")), "name", "title"),
}));

/**
 * A company and its contacts. With a `domain`, the service updates an existing company instead of adding one. The
 * document requires no field, but the library requires at least one.
 *
 * Source: service document, Companies (create).
 */
export interface CompanyInput {
  /** The company's name; not blank. */
  companyName?: string | undefined;
  /** Unique per workspace. If a company has this domain, the service updates it instead of adding a duplicate. */
  domain?: string | undefined;
  /** The line of business. */
  industry?: string | undefined;
  /** The people of the company, who become contacts. */
  contacts?: CompanyPerson[] | undefined;
}
const ownFields = () => ({
  ...each(z.optional(Text), "companyName", "domain"),
  industry: z.optional(z.string("must be a string")),
});

/** Checks a new company. */
export const CompanyInput: Schema<CompanyInput> = inputOf<CompanyInput>(
  () => ({
    ...ownFields(),
    contacts: z.optional(z.array(zodOf(CompanyPerson), "must be an array of { email, name, title }")),
  }),
  () =>
    z.refine(
      (company) => Object.values(company).some((value) => value !== undefined),
      "must have a field: companyName, domain, industry or contacts",
    ),
);

/**
 * The fields of a company to change. The document does not list them; these are the fields that a company has.
 *
 * Source: service document, Companies, PATCH.
 */
export interface CompanyPatch {
  /** The company's name; not blank. */
  companyName?: string | undefined;
  /** Unique per workspace. The service refuses the domain of another company with 409. */
  domain?: string | undefined;
  /** The line of business. */
  industry?: string | undefined;
}
/** Checks the changes to a company. */
export const CompanyPatch: Schema<CompanyPatch> = inputOf<CompanyPatch>(ownFields);

/**
 * The ids of a company and its contacts.
 *
 * Source: service document, Companies, "Returns ids". The names of the fields are not documented; the library accepts
 * several.
 */
export interface CompanyCreated {
  /** The company's id, an opaque string. */
  id: string;
  /** The ids of the people, opaque strings. */
  contactIds?: string[] | null | undefined;
}
export const CompanyCreated: Schema<CompanyCreated> = objectOf<CompanyCreated>(() => ({
  id: z.string(),
  contactIds: z.nullish(z.array(z.string())),
}));

const CompanyQuery = inputOf<{ domain: string }>(() => ({
  domain: QueryText.check(z.refine((value) => value.trim() !== "", "must not be empty")),
}));

/** The matching companies. At most one company has a certain domain. */
export interface CompanyMatches {
  data: Company[];
}
export const CompanyMatches = objectOf<CompanyMatches>(() => ({ data: z.array(zodOf(Company)) }));

/** Reads a company, directly or in an envelope such as `{ company }`. Its id can also be `companyId` or `leadId`. */
const readCompany = anyRecord("company", "lead");

/**
 * Reads the id of a new company, and the ids of its contacts: from `contactIds`, or from the records in `contacts`. The
 * value of `company` or `lead` can be the bare id.
 */
const readCompanyIds = (body: unknown): unknown => {
  const read = readCompany(body);
  if (!isRecord(read)) return read;
  const bare = [read.company, read.lead].find(isId);
  const flat = read.id === undefined && bare !== undefined ? { ...read, id: textOf(bare) } : read;
  const people = [flat.contactIds, flat.contacts].find(isArray);
  const ids = people?.map(anyRecord("contact")).map((person) => (isRecord(person) ? person.id : person));
  return ids?.every(isId) ? { ...flat, contactIds: ids.map(textOf) } : flat;
};

/** Reads the company found by its domain: a page, a bare array, a record, or an empty body. */
const readCompanies = (body: unknown): unknown => {
  const company = readCompany(body);
  // Check for a record first, because its people under `contacts` are not a page of companies.
  if (isRecord(company) && company.id !== undefined) return { data: [company] };
  const page = anyPage(readCompany, "companies", "leads")(body);
  return { data: isRecord(page) && isArray(page.data) ? page.data : [] };
};

/** Source: service document, Endpoints, Companies. It lacks the path of create and the search by domain. */
export const companies = {
  create: operation("companies.create", "POST /api/v1/companies", {
    scope: ["leads:write", "contacts:write"],
    // With a domain, the service updates the existing company. Without one, a repeated request would add a second
    // company.
    replay: ({ domain }) => (domain === undefined ? "never" : "idempotent"),
    input: CompanyInput,
    output: CompanyCreated,
    read: readCompanyIds,
  }),
  update: operation("companies.update", "PATCH /api/v1/companies/:id", {
    scope: ["leads:write"],
    replay: "idempotent",
    input: CompanyPatch,
    output: Company,
    read: changed(readCompany),
    // The document does not say what an update returns.
    mayBeEmpty: true,
  }),
  findByDomain: operation("companies.findByDomain", "GET /api/v1/companies", {
    replay: "safe",
    input: CompanyQuery,
    output: CompanyMatches,
    read: readCompanies,
  }),
};
