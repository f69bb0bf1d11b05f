import { operation } from "../define.ts";
import { readChangedCompany, readCompanies, readCompanyIds } from "../response-shapes.ts";
import {
  Company,
  CompanyCreated,
  CompanyInput,
  CompanyMatches,
  CompanyPatch,
  CompanyQuery,
} from "./schema.ts";

/** Source: service document, Endpoints, Companies. The create path and the search are not given there. */
export const companies = {
  create: operation({
    id: "companies.create",
    method: "POST",
    path: "/api/v1/companies",
    scope: ["leads:write", "contacts:write"],
    // With a domain the service updates the company it has; without one a repeat would add a second.
    replay: ({ domain }) => (domain === undefined ? "never" : "idempotent"),
    budgets: ["requests"],
    input: CompanyInput,
    output: CompanyCreated,
    read: readCompanyIds,
  }),
  update: operation({
    id: "companies.update",
    method: "PATCH",
    path: "/api/v1/companies/:id",
    scope: ["leads:write"],
    replay: "idempotent",
    budgets: ["requests"],
    input: CompanyPatch,
    output: Company,
    read: readChangedCompany,
    // The document does not say what an update answers.
    mayBeEmpty: true,
  }),
  findByDomain: operation({
    id: "companies.findByDomain",
    method: "GET",
    path: "/api/v1/companies",
    scope: [],
    replay: "safe",
    budgets: ["requests"],
    input: CompanyQuery,
    output: CompanyMatches,
    read: readCompanies,
  }),
};
