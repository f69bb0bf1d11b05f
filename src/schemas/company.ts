import * as z from "zod/mini";
import { deferred, EmailAddress, inputObject, maybe, QueryText, Text } from "./common.ts";

/** A company (a lead, in scope names). Other fields than these are not documented. */
export const Company = deferred(() =>
  z.looseObject({
    id: maybe(z.string()),
    /** The company's name. */
    companyName: maybe(z.string()),
    /** Unique per workspace. */
    domain: maybe(z.string()),
    /** The line of business. */
    industry: maybe(z.string()),
  }),
);
export type Company = z.infer<typeof Company>;

/** A person created together with the company. */
export const CompanyPerson = deferred(() =>
  inputObject({
    email: EmailAddress,
    name: z.optional(z.string("must be a string")),
    title: z.optional(z.string("must be a string")),
  }),
);
export type CompanyPerson = z.infer<typeof CompanyPerson>;

/** A company and its people. With a `domain` the service updates an existing company instead of adding one. */
export const CompanyInput = deferred(() =>
  inputObject({
    /** The company's name. The document requires no field of a company; at least one must be there. */
    companyName: z.optional(Text),
    /** Unique per workspace: with it, an existing company is updated instead of duplicated. */
    domain: z.optional(Text),
    /** The line of business. */
    industry: z.optional(z.string("must be a string")),
    contacts: z.optional(z.array(CompanyPerson, "must be an array of { email, name, title }")),
  }).check(
    z.refine(
      (company) => Object.values(company).some((value) => value !== undefined),
      "must have a field: companyName, domain, industry or contacts",
    ),
  ),
);
export type CompanyInput = z.infer<typeof CompanyInput>;

/** The fields to change. The document does not list them; these are the company's known ones. */
export const CompanyPatch = deferred(() =>
  inputObject({
    /** The company's name. */
    companyName: z.optional(Text),
    /** Unique per workspace: with it, an existing company is updated instead of duplicated. */
    domain: z.optional(Text),
    /** The line of business. */
    industry: z.optional(z.string("must be a string")),
  }),
);
export type CompanyPatch = z.infer<typeof CompanyPatch>;

/** The ids the service returns; their names are not documented, so `id` is lifted from whichever was sent. */
export const CompanyCreated = deferred(() =>
  z.looseObject({
    id: maybe(z.string()),
    contactIds: maybe(z.array(z.string())),
  }),
);
export type CompanyCreated = z.infer<typeof CompanyCreated>;

/** Asks for the company with a domain. */
export const CompanyQuery = deferred(() =>
  inputObject({
    /** Unique per workspace: with it, an existing company is updated instead of duplicated. */
    domain: QueryText.check(z.refine((value) => value.trim() !== "", "must not be empty")),
  }),
);
export type CompanyQuery = z.infer<typeof CompanyQuery>;

/** The companies that match; at most one has a given domain. */
export const CompanyMatches = deferred(() => z.looseObject({ data: z.array(Company) }));
export type CompanyMatches = z.infer<typeof CompanyMatches>;
