import { type Client, Company, Contact, ScheduledEmail } from "../index.ts";
import { type CliCommand, exitCode, jsonOption, print } from "./command.ts";
import { connect, connectionOptions } from "./connect.ts";
import { Examination, type Finding, isFields } from "./doctor-examination.ts";
import { visible } from "./terminal.ts";

/** What no GET request can check. For the first, one shows whether the path exists. */
const notProbed: readonly string[] = [
  "companies.create",
  "lists.create",
  "emails.scheduled.update",
  "emails.scheduled.cancel",
  "every documented call that creates, changes, adds, removes, records or sends",
];

/** A domain that cannot exist: a service that lists anyone for it ignores `domain`. */
const nowhere = "touchpoint.invalid";

const largest = { skip: 0, limit: 200 };

const idsOf = (records: readonly unknown[]): string =>
  JSON.stringify(records.map((record) => (isFields(record) ? record.id : undefined)));

/** Checks the list of contacts: its shape, its counts, whether its order is stable, and its search. */
const examineContacts = async (examination: Examination): Promise<void> => {
  const operation = "contacts.list";
  const path = "/api/v1/contacts";
  const differ = (text: string): void => examination.differ(operation, text);
  const first = await examination.page(operation, path, largest);
  if (first === undefined) return;
  const { data, total } = first;
  examination.compare(operation, data, Contact);
  if (new Set(data.map((record) => idsOf([record]))).size < data.length)
    differ("the same record comes twice in a page");
  if (data.length === 0) examination.note(operation, "holds no contact: shapes and order are not compared");
  const plain = await examination.page(operation, path, {});
  if (plain !== undefined && idsOf(plain.data) !== idsOf(data.slice(0, plain.data.length)))
    differ("the order changes from one request to the next");
  const half = data.length >> 1;
  const rest = half > 0 ? await examination.page(operation, path, { ...largest, skip: half }) : undefined;
  const both = data.slice(half);
  if (rest !== undefined && idsOf(rest.data.slice(0, both.length)) !== idsOf(both))
    differ("a page further on does not go on where the one before it ends");
  const email = isFields(data[0]) ? data[0].email : undefined;
  if (typeof email === "string") {
    const body = (await examination.get(path, { search: email, limit: largest.limit }))?.body;
    const found = isFields(body) && Array.isArray(body.data) ? body.data : [];
    if (!found.some((contact) => isFields(contact) && contact.email === email))
      differ("search does not find a contact by its email, as contacts.find and upsert need");
    else if (total > 1 && isFields(body) && body.total === total)
      differ("search finds every contact: it seems to be ignored");
  }
  if ([plain, rest].some((page) => page !== undefined && page.total !== total))
    examination.note(operation, "the list changed meanwhile: what differs may come of that, run it again");
};

const companiesIn = (body: unknown): readonly unknown[] => {
  if (Array.isArray(body)) return body;
  if (!isFields(body)) return [];
  const list = [body.data, body.companies, body.leads].find(Array.isArray);
  if (list !== undefined) return list;
  const one = [body.company, body.lead, body.data, body].find((record) => isFields(record) && "id" in record);
  return one === undefined ? [] : [one];
};

/**
 * Checks the inferred path of the companies, and what it answers for a domain.
 *
 * @returns what to give the client's option `routes`.
 */
const examineCompanies = async (
  examination: Examination,
  domain: string | undefined,
): Promise<Readonly<Record<string, string>>> => {
  const operation = "companies.findByDomain";
  const differ = (text: string): void => examination.differ(operation, text);
  // The document's two words for a company.
  const [own, other] = ["/api/v1/companies", "/api/v1/leads"];
  const asked = domain ?? nowhere;
  const usual = await examination.get(own, { domain: asked });
  const answer = usual ?? (await examination.get(other, { domain: asked }));
  if (answer === undefined) differ(`neither ${own} nor ${other} answers`);
  else if (usual === undefined) differ(`${own} does not answer, ${other} does`);
  if (answer === undefined) return {};
  const { status, body } = answer;
  const found = status === 200 ? companiesIn(body) : [];
  const isAsked = (company: unknown) => isFields(company) && String(company.domain).toLowerCase() === asked;
  const strangers = found.filter((company) => !isAsked(company)).length;
  // No company of that domain may also be a 404; the client reads it as null.
  if (status !== 200 && status !== 404) examination.differStatus(operation, answer);
  else if (strangers > 0)
    differ(`asked for one domain, it answers ${strangers} companies of others: domain is ignored`);
  else if (domain === undefined)
    examination.note(operation, "its record is not compared: give --domain of a company");
  else if (found.length === 0) differ(`finds no company of ${domain}`);
  else examination.compare(operation, found, Company);
  return usual === undefined ? { "companies.findByDomain": other, "companies.create": other } : {};
};

const examineScheduled = async (examination: Examination): Promise<void> => {
  const operation = "emails.scheduled.list";
  const page = await examination.page(operation, "/api/v1/emails/scheduled", largest);
  if (page?.data.length === 0)
    examination.note(operation, "holds no email: the shape of one is not compared");
  examination.compare(operation, page?.data ?? [], ScheduledEmail);
};

/** Finds limits in the headers, `"default";q=100;w=10` or the older `100;w=10`, that are lower than the documented ones. */
const examineLimits = async (examination: Examination): Promise<void> => {
  const { requests, requestsPerDay } = (await import("../sandbox/index.ts")).documentedLimits;
  for (const policy of Object.values(examination.limits).flatMap((value) => value.split(","))) {
    const max = Number(/(?:;\s*q=|^\s*)(\d+)/.exec(policy)?.[1]);
    const seconds = Number(/;\s*w=(\d+)/.exec(policy)?.[1]);
    const same = [requests, requestsPerDay].find(({ windowMs }) => windowMs === seconds * 1_000);
    if (same !== undefined && max < same.max)
      examination.differ(
        "limits",
        `the headers state ${max} requests per ${seconds} s, the document ${same.max}: give the client \`limits\``,
      );
  }
};

/** The result of `touchpoint doctor`, as `--json` prints it. */
export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/** Compares a service with the document, with GET requests only. */
export const diagnose = async (
  client: Client,
  { domain, signal }: { readonly domain?: string | undefined; readonly signal: AbortSignal },
) => {
  const examination = new Examination(client, signal);
  await examineContacts(examination);
  await examination.learnMissingPath();
  const routes = await examineCompanies(examination, domain?.toLowerCase());
  await examineScheduled(examination);
  await examineLimits(examination);
  const { requests, differs, notes, limits } = examination;
  return { requests, differs, notes, routes, limits, notProbed };
};

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n${title}\n${lines.map((line) => `  ${visible(line)}\n`).join("")}`;

const described = ({ operation, text }: Finding): string => `${operation}: ${text}`;

/** The diagnosis as text. */
export const describeDiagnosis = ({ requests, differs, notes, routes, limits }: Diagnosis): string => {
  const verdict = differs.length === 0 ? "nothing differs" : `${differs.length} differ`;
  const given = Object.keys(routes).length === 0 ? [] : [`routes: ${JSON.stringify(routes)}`];
  const headers = Object.entries(limits).map(([name, value]) => `${name}: ${value}`);
  return (
    `${requests} requests, all of them GET: ${verdict}.\n` +
    section("Differs from the document:", differs.map(described)) +
    section("Worth knowing:", notes.map(described)) +
    section("Limits, as the headers tell them:", headers) +
    section("For the client's options:", given) +
    section("Not probed, since only a change would tell:", notProbed)
  );
};

/** `touchpoint doctor`. */
export const doctor: CliCommand = {
  name: "doctor",
  about:
    "Compares a service with the document, with about ten GET requests and nothing else.\n" +
    "It looks at inferred paths, shapes, order and counts of lists, unknown fields, and limits in headers.\n" +
    "It prints `routes` to paste. Values are never shown.\n" +
    "Exit code 0: as documented. 3: something differs. 1: the service could not be reached.",
  example: "touchpoint doctor --domain acme.example",
  operands: [],
  options: {
    "--base-url <url>": "default: TOUCHPOINT_BASE_URL",
    "--domain <name>": "the domain of an existing company, to check its record",
    ...connectionOptions,
    ...jsonOption,
  },
  run: async (request) => {
    await using client = await connect(request, { baseUrl: request.values["base-url"] });
    const found = await diagnose(client, { domain: request.values.domain, signal: request.interrupt });
    print(request, found, describeDiagnosis(found));
    return found.differs.length === 0 ? exitCode.ok : exitCode.someRejected;
  },
  afterInterrupt: () => "Nothing was changed.",
};
