import { Company, ScheduledEmail } from "../index.ts";
import { readPage } from "./doctor-lists.ts";
import {
  type Answer,
  type Ask,
  type Finding,
  isFields,
  recordFaults,
  unknownFields,
} from "./doctor-probes.ts";

/** The findings about operations whose paths the document does not give. */
export interface PathsReport {
  readonly findings: readonly Finding[];
  /** For the client's option `routes`. */
  readonly routes: Readonly<Record<string, string>>;
}

// This path cannot exist: its response shows how a missing path differs from a missing record.
const missing = "/api/v1/touchpoint-doctor-missing";

const signature = ({ status, body }: Answer, path: string): string =>
  `${status} ${JSON.stringify(body ?? null).replaceAll(path, "")}`;

const allowed = ({ headers }: Answer): string => {
  const methods = headers.get("allow");
  return methods === null ? "" : ` (it allows ${methods})`;
};

/** The document's two words for a company. */
const companyPaths = ["/api/v1/companies", "/api/v1/leads"] as const;

/** A domain that cannot exist: a service that lists anyone for it ignores `domain`. */
const nowhere = "touchpoint.invalid";

const companiesIn = (body: unknown): readonly unknown[] => {
  if (Array.isArray(body)) return body;
  if (!isFields(body)) return [];
  const list = [body.data, body.companies, body.leads].find(Array.isArray);
  if (list !== undefined) return list;
  const one = [body.company, body.lead, body.data, body].find((record) => isFields(record) && "id" in record);
  return one === undefined ? [] : [one];
};

const companyFields = ["id", "companyName", "domain", "industry", "contacts"];
const scheduledFields = ["id", "status", "sendAt", "scheduled"];

const recordsFound = (
  operation: string,
  faults: readonly string[],
  unknown: readonly string[],
): readonly Finding[] => [
  ...faults.map((text) => ({ operation, level: "differs" as const, text })),
  ...(unknown.length === 0
    ? []
    : [
        {
          operation,
          level: "note" as const,
          text: `has fields that the document does not: ${unknown.join(", ")}`,
        },
      ]),
];

const companyFaults = (answer: Answer, domain: string | undefined): readonly string[] => {
  // No contact of that domain may also be a 404; the client reads it as null.
  if (answer.status === 404) return domain === undefined ? [] : [`finds no company of ${domain}`];
  if (answer.status !== 200) return [`answers ${answer.status}${allowed(answer)}`];
  const found = companiesIn(answer.body);
  const strangers = found.filter(
    (company) =>
      !isFields(company) ||
      (typeof company.domain === "string" ? company.domain.toLowerCase() : "") !== (domain ?? nowhere),
  );
  if (strangers.length > 0)
    return [`asked for one domain, it answers ${strangers.length} companies of others: domain is ignored`];
  if (domain !== undefined && found.length === 0) return [`finds no company of ${domain}`];
  return recordFaults(found, Company);
};

/**
 * Finds out which inferred paths exist, with GET requests only.
 *
 * @param domain - the domain of an existing company; without it, only an empty response can be checked.
 */
export const examinePaths = async (ask: Ask, domain: string | undefined): Promise<PathsReport> => {
  const findings: Finding[] = [];
  const routes: Record<string, string> = {};
  const differs = (operation: string, text: string) => findings.push({ operation, level: "differs", text });
  const note = (operation: string, text: string) => findings.push({ operation, level: "note", text });

  const none = signature(await ask.get(missing), missing);
  const isMissing = (answer: Answer, path: string): boolean => signature(answer, path) === none;
  const tells = none.startsWith("404 ");
  if (!tells) note("paths", "a path that cannot exist is not answered 404: which paths exist cannot be told");

  const query = { domain: domain ?? nowhere };
  const [own, other] = companyPaths;
  const answers = new Map([[own as string, await ask.get(own, query)]]);
  const at = (path: string): Answer | undefined => answers.get(path);
  const answersAt = (path: string): boolean => {
    const answer = at(path);
    return answer !== undefined && tells && !isMissing(answer, path);
  };
  const isGone = tells && !answersAt(own);
  if (isGone) answers.set(other, await ask.get(other, query));
  const path = isGone && answersAt(other) ? other : own;
  const company = at(path);
  if (path === other) {
    for (const operation of ["companies.findByDomain", "companies.create"]) routes[operation] = path;
    differs("companies.findByDomain", `${own} does not answer, ${path} does`);
    note("companies.create", `${path} answers a GET; whether it takes a POST is not probed`);
  } else if (isGone) differs("companies.findByDomain", `neither ${own} nor ${other} answers`);
  if (company !== undefined && !(isGone && path === own)) {
    const records = company.status === 200 ? companiesIn(company.body) : [];
    const unknown = unknownFields(records, companyFields);
    findings.push(...recordsFound("companies.findByDomain", companyFaults(company, domain), unknown));
  }
  if (domain === undefined)
    note("companies.findByDomain", "its record is not compared: give --domain of a company");

  const lists = await ask.get("/api/v1/lists");
  if (tells && isMissing(lists, "/api/v1/lists"))
    note("lists.create", "/api/v1/lists does not answer a GET; a service without such a GET says the same");
  else if (tells)
    note("lists.create", `/api/v1/lists answers ${lists.status}${allowed(lists)}: the path is there`);

  const scheduled = "/api/v1/emails/scheduled";
  const asked = { skip: 0, limit: 200 };
  const answer = await ask.get(scheduled, asked);
  if (tells && isMissing(answer, scheduled)) differs("emails.scheduled.list", `${scheduled} does not answer`);
  else {
    const { page, faults } = readPage(answer, asked);
    const records = page?.data ?? [];
    const misfits = [
      ...faults.map((text) => text + (page ? "" : allowed(answer))),
      ...recordFaults(records, ScheduledEmail),
    ];
    findings.push(...recordsFound("emails.scheduled.list", misfits, unknownFields(records, scheduledFields)));
    if (page !== undefined && records.length === 0)
      note("emails.scheduled.list", "holds no email: the shape of one is not compared");
  }
  return { findings, routes };
};
