import { Company, Contact, ScheduledEmail } from "../index.ts";
import { contactFields } from "./contact-columns.ts";
import { type Answer, type Examination, isFields } from "./doctor-examination.ts";

const idsOf = (records: readonly unknown[]): string =>
  JSON.stringify(records.map((record) => (isFields(record) ? record.id : undefined)));

const largest = { limit: 200 };

/** Checks the list of contacts: its shape, its counts, whether its order is stable, and its search. */
export const examineContacts = async (examination: Examination): Promise<void> => {
  const operation = "contacts.list";
  const path = "/api/v1/contacts";
  const differ = (text: string): void => examination.differ(operation, text);
  const totals = new Set<number>();
  const pageAt = async (query = {}) => {
    const page = examination.pageOf(operation, await examination.get(path, query), query);
    if (page !== undefined) totals.add(page.total);
    return page;
  };

  const first = await pageAt({ skip: 0, ...largest });
  if (first === undefined) return;
  const { data, total } = first;
  examination.compare(operation, data, Contact, contactFields);
  if (new Set(data.map((record) => idsOf([record]))).size < data.length)
    differ("the same record comes twice in a page");
  if (data.length === 0) examination.note(operation, "holds no contact: shapes and order are not compared");

  const plain = await pageAt();
  if (plain !== undefined && idsOf(plain.data) !== idsOf(data.slice(0, plain.data.length)))
    differ("the order changes from one request to the next");
  if (data.length > 1) {
    const both = data.slice(data.length >> 1);
    const rest = await pageAt({ skip: data.length >> 1, ...largest });
    if (rest !== undefined && idsOf(rest.data.slice(0, both.length)) !== idsOf(both))
      differ("a page further on does not go on where the one before it ends");
  }
  const email = isFields(data[0]) ? data[0].email : undefined;
  if (typeof email === "string") {
    const { body } = await examination.get(path, { search: email, ...largest });
    const found = isFields(body) && Array.isArray(body.data) ? body.data : [];
    if (!found.some((contact) => isFields(contact) && contact.email === email))
      differ("search does not find a contact by its email, as contacts.find and upsert need");
    else if (total > 1 && isFields(body) && body.total === total)
      differ("search finds every contact: it seems to be ignored");
  }
  if (totals.size > 1)
    examination.note(operation, "the list changed meanwhile: what differs may come of that, run it again");
};

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

const examineCompanies = (examination: Examination, answer: Answer, domain: string | undefined): void => {
  const operation = "companies.findByDomain";
  const differ = (text: string): void => examination.differ(operation, text);
  // No company of that domain may also be a 404; the client reads it as null.
  if (answer.status !== 200 && answer.status !== 404) return examination.differStatus(operation, answer);
  const found = answer.status === 200 ? companiesIn(answer.body) : [];
  const asked = domain ?? nowhere;
  const strangers = found.filter(
    (company) => !isFields(company) || String(company.domain).toLowerCase() !== asked,
  );
  if (strangers.length > 0)
    return differ(
      `asked for one domain, it answers ${strangers.length} companies of others: domain is ignored`,
    );
  if (domain === undefined)
    return examination.note(operation, "its record is not compared: give --domain of a company");
  if (found.length === 0) return differ(`finds no company of ${domain}`);
  examination.compare(operation, found, Company, ["id", "companyName", "domain", "industry", "contacts"]);
};

// This path cannot exist: its response shows how a missing path differs from a missing record.
const missing = "/api/v1/touchpoint-doctor-missing";

/**
 * Finds out which inferred paths exist, with GET requests only.
 *
 * @param domain - the domain of an existing company; without it, only an empty response can be checked.
 * @returns what to give the client's option `routes`.
 */
export const examinePaths = async (
  examination: Examination,
  domain: string | undefined,
): Promise<Readonly<Record<string, string>>> => {
  const signature = ({ status, body }: Answer, path: string): string =>
    `${status} ${JSON.stringify(body ?? null).replaceAll(path, "")}`;
  const none = signature(await examination.get(missing), missing);
  const tells = none.startsWith("404 ");
  if (!tells)
    examination.note(
      "paths",
      "a path that cannot exist is not answered 404: which paths exist cannot be told",
    );
  /** The answer of a path; undefined if the path does not exist. */
  const ask = async (path: string, query: Readonly<Record<string, string | number>>) => {
    const answer = await examination.get(path, query);
    return tells && signature(answer, path) === none ? undefined : answer;
  };

  let routes = {};
  // The document's two words for a company.
  const [own, other] = ["/api/v1/companies", "/api/v1/leads"];
  const query = { domain: domain ?? nowhere };
  let companies = await ask(own, query);
  if (companies === undefined) {
    companies = await ask(other, query);
    if (companies !== undefined) routes = { "companies.findByDomain": other, "companies.create": other };
    examination.differ(
      "companies.findByDomain",
      companies === undefined
        ? `neither ${own} nor ${other} answers`
        : `${own} does not answer, ${other} does`,
    );
  }
  if (companies !== undefined) examineCompanies(examination, companies, domain);

  const scheduled = "/api/v1/emails/scheduled";
  const asked = { skip: 0, ...largest };
  const operation = "emails.scheduled.list";
  const answer = await ask(scheduled, asked);
  if (answer === undefined) examination.differ(operation, `${scheduled} does not answer`);
  else {
    const data = examination.pageOf(operation, answer, asked)?.data;
    if (data?.length === 0) examination.note(operation, "holds no email: the shape of one is not compared");
    examination.compare(operation, data ?? [], ScheduledEmail, ["id", "status", "sendAt", "scheduled"]);
  }
  return routes;
};
