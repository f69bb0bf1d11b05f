import {
  ApiError,
  AuthenticationError,
  type Client,
  Company,
  Contact,
  ResponseValidationError,
  ScheduledEmail,
  type Schema,
} from "../index.ts";
import { type CliCommand, exitCode, jsonOption, print } from "./command.ts";
import { connect, connectionOptions } from "./connect.ts";
import { fieldsOf } from "./contact-columns.ts";
import { visible } from "./terminal.ts";

/** What no GET request can check. For the first, one shows whether the path exists. */
const notProbed: readonly string[] = [
  "companies.create",
  "lists.create",
  "emails.scheduled.update",
  "emails.scheduled.cancel",
  "every documented call that creates, changes, adds, removes, records or sends",
];

/** One thing that the doctor found about an operation. */
interface Finding {
  readonly operation: string;
  readonly text: string;
}

/** The response to a GET request; the body is undefined if it was not JSON. */
type Answer = Pick<ApiError, "status" | "headers" | "attempts" | "body">;

type Query = Readonly<Record<string, string | number>>;

/** Any status is a response here, except 401: without a valid key there is nothing to find out. */
const answerOf = (error: unknown): Answer => {
  if (error instanceof ApiError && !(error instanceof AuthenticationError)) return error;
  if (!(error instanceof ResponseValidationError)) throw error;
  return { status: error.status, attempts: error.attempts, headers: new Headers(), body: undefined };
};

/** The type of a value, never the value itself: responses hold personal data. */
const kindOf = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
};

/** The fields of an object; none of anything else. */
const fieldsIn = (value: unknown): Readonly<Record<string, unknown>> =>
  kindOf(value) === "object" ? Object(value) : {};

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const idsOf = (records: readonly unknown[]): unknown[] => records.map((record) => fieldsIn(record).id);

const signatureOf = ({ status, body }: Answer, path: string): string =>
  `${status} ${JSON.stringify(body ?? null).replaceAll(path, "")}`;

/** Where a page differs from the document. The first fault is the only one if it is no page. */
const pageFaults = (body: unknown, query: Query): string[] => {
  const page = fieldsIn(body);
  if (!Array.isArray(page.data)) {
    const names = Object.keys(page).sort().join(", ") || "no fields";
    const shape = kindOf(body) === "object" ? `an object with ${names}` : kindOf(body);
    return [`answers ${body === undefined ? "no JSON" : shape}, not { data, total, skip, limit }`];
  }
  const asked: Query = { skip: 0, limit: 50, ...query };
  const faults = ["total", "skip", "limit"].flatMap((name) => {
    if (typeof page[name] !== "number") return [`${name} must be number, is ${kindOf(page[name])}`];
    const isAsAsked = name === "total" || page[name] === asked[name];
    return isAsAsked ? [] : [`asked for ${name} ${asked[name]}, the page says ${page[name]}`];
  });
  const due = Math.max(0, Math.min(Number(asked.limit), Number(page.total) - Number(asked.skip)));
  const given = `of ${page.total} records, skip ${asked.skip} and limit ${asked.limit} give ${page.data.length}`;
  if (typeof page.total === "number" && page.data.length !== due) faults.push(`${given} and not ${due}`);
  return faults;
};

const recordFaults = (record: unknown, schema: Schema): string[] =>
  (schema.safeParse(record).error?.issues ?? []).map((issue) => {
    const name = issue.path.filter((key) => typeof key !== "number").join(".") || "a record";
    const value = issue.path.reduce<unknown>((at, key) => Object(at)[key], record);
    return `${name} ${"expected" in issue ? `must be ${issue.expected}` : issue.message}, is ${kindOf(value)}`;
  });

/** Sends GET requests through the client, so that it keeps the limits, and gathers what they show. */
const examination = (client: Client, signal: AbortSignal) => {
  const differs: Finding[] = [];
  const notes: Finding[] = [];
  const limits: Record<string, string> = {};
  const found = { requests: 0, differs, notes, routes: {}, limits, notProbed };
  /** How a path that does not exist is answered, if that can be told. */
  let none: string | undefined;
  /** Undefined if the path does not exist. @throws AuthenticationError, ConnectionError and RateLimitError. */
  const get = async (path: string, query?: Query): Promise<Answer | undefined> => {
    const answer = await client
      .request({ method: "GET", path, query }, { signal, maxRetries: 1 })
      .withResponse()
      .then(({ data, response }) => ({ ...response, body: data }), answerOf);
    found.requests += answer.attempts;
    for (const [name, value] of answer.headers) if (/^(x-)?rate-?limit/.test(name)) limits[name] = value;
    return signatureOf(answer, path) === none ? undefined : answer;
  };
  /** The probe of an operation. */
  const probe = (operation: string) => {
    const note = (text: string): void => void notes.push({ operation, text });
    const differ = (...texts: readonly string[]): void => {
      for (const text of texts)
        if (!differs.some((known) => known.text === text)) differs.push({ operation, text });
    };
    /** Reports a status that the document does not state, with the methods that a 405 names. */
    const differStatus = ({ status, headers }: Answer): void => {
      const methods = headers.get("allow");
      differ(`answers ${status}${methods === null ? "" : ` (it allows ${methods})`}`);
    };
    /** Undefined if it is no page. */
    const page = async (path: string, query: Query) => {
      const answer = await get(path, query);
      if (answer === undefined) return void differ(`${path} does not answer`);
      if (answer.status !== 200) return void differStatus(answer);
      differ(...pageFaults(answer.body, query));
      const { data, total } = fieldsIn(answer.body);
      return Array.isArray(data) && typeof total === "number" ? { data, ids: idsOf(data), total } : undefined;
    };
    /** Compares records with their documented type and fields. */
    const compare = (records: readonly unknown[], schema: Schema): void => {
      differ(...records.flatMap((record) => recordFaults(record, schema)));
      const known = fieldsOf(schema);
      const names = new Set(records.flatMap((record) => Object.keys(fieldsIn(record))));
      const unknown = [...names].filter((name) => !known.includes(name)).sort();
      if (unknown.length > 0) note(`has fields that the document does not: ${unknown.join(", ")}`);
    };
    return { get, note, differ, differStatus, page, compare };
  };
  const learnMissingPath = async (): Promise<void> => {
    // It cannot exist: its response shows how a missing path differs from a missing record.
    const path = "/api/v1/touchpoint-doctor-missing";
    const answer = await get(path);
    if (answer?.status === 404) none = signatureOf(answer, path);
    else
      probe("paths").note("a path that cannot exist is not answered 404: which paths exist cannot be told");
  };
  return { found, probe, learnMissingPath };
};

type Examination = ReturnType<typeof examination>;

const isSame = (ids: readonly unknown[], others: readonly unknown[]): boolean =>
  JSON.stringify(ids) === JSON.stringify(others);

const largest = { skip: 0, limit: 200 };

/** Checks the list of contacts: its shape, its counts, whether its order is stable, and its search. */
const examineContacts = async ({ probe }: Examination): Promise<void> => {
  const { get, page, compare, differ, note } = probe("contacts.list");
  const path = "/api/v1/contacts";
  const first = await page(path, largest);
  if (first === undefined) return;
  const { data, ids, total } = first;
  compare(data, Contact);
  if (new Set(ids).size < ids.length) differ("the same record comes twice in a page");
  if (ids.length === 0) note("holds no contact: shapes and order are not compared");
  const plain = await page(path, {});
  if (plain !== undefined && !isSame(plain.ids, ids.slice(0, plain.ids.length)))
    differ("the order changes from one request to the next");
  const half = ids.length >> 1;
  const rest = half > 0 ? await page(path, { ...largest, skip: half }) : undefined;
  if (rest !== undefined && !isSame(rest.ids.slice(0, ids.length - half), ids.slice(half)))
    differ("a page further on does not go on where the one before it ends");
  const { email } = fieldsIn(data[0]);
  if (typeof email === "string") {
    const answer = await get(path, { search: email, limit: largest.limit });
    const body = fieldsIn(answer?.body);
    if (!listIn(body.data).some((contact) => fieldsIn(contact).email === email))
      differ("search does not find a contact by its email, as contacts.find and upsert need");
    else if (total > 1 && body.total === total) differ("search finds every contact: it seems to be ignored");
  }
  if ([plain, rest].some((later) => later !== undefined && later.total !== total))
    note("the list changed meanwhile: what differs may come of that, run it again");
};

/** The companies of an answer whose form the document does not show. */
const companiesIn = (body: unknown): readonly unknown[] => {
  const { data, companies, leads, company, lead } = fieldsIn(body);
  const one = [company, lead, data, body].find((record) => "id" in fieldsIn(record));
  return [body, data, companies, leads].find(Array.isArray) ?? (one === undefined ? [] : [one]);
};

/** Checks the inferred path of the companies, and what it answers for a domain. */
const examineCompanies = async ({ found, probe }: Examination, domain?: string): Promise<void> => {
  const { get, compare, differ, differStatus, note } = probe("companies.findByDomain");
  // The document's two words for a company.
  const [own, other] = ["/api/v1/companies", "/api/v1/leads"];
  // A domain that cannot exist: a service that lists anyone for it ignores `domain`.
  const asked = domain ?? "touchpoint.invalid";
  const usual = await get(own, { domain: asked });
  const answer = usual ?? (await get(other, { domain: asked }));
  if (answer === undefined) return differ(`neither ${own} nor ${other} answers`);
  if (usual === undefined) {
    differ(`${own} does not answer, ${other} does`);
    found.routes = { "companies.findByDomain": other, "companies.create": other };
  }
  const companies = answer.status === 200 ? companiesIn(answer.body) : [];
  const domains = companies.map((company) => String(fieldsIn(company).domain).toLowerCase());
  const strangers = domains.filter((name) => name !== asked).length;
  // No company of that domain may also be a 404; the client reads it as null.
  if (answer.status !== 200 && answer.status !== 404) differStatus(answer);
  else if (strangers > 0)
    differ(`asked for one domain, it answers ${strangers} companies of others: domain is ignored`);
  else if (domain === undefined) note("its record is not compared: give --domain of a company");
  else if (companies.length === 0) differ(`finds no company of ${domain}`);
  else compare(companies, Company);
};

const examineScheduled = async ({ probe }: Examination): Promise<void> => {
  const { page, compare, note } = probe("emails.scheduled.list");
  const found = await page("/api/v1/emails/scheduled", largest);
  if (found?.data.length === 0) note("holds no email: the shape of one is not compared");
  compare(found?.data ?? [], ScheduledEmail);
};

/** Finds limits in the headers, `"default";q=100;w=10` or the older `100;w=10`, that are lower than the documented ones. */
const examineLimits = async ({ found, probe }: Examination): Promise<void> => {
  const { requests, requestsPerDay } = (await import("../sandbox/index.ts")).documentedLimits;
  for (const policy of Object.values(found.limits).flatMap((value) => value.split(","))) {
    const max = Number(/(?:;\s*q=|^\s*)(\d+)/.exec(policy)?.[1]);
    const seconds = Number(/;\s*w=(\d+)/.exec(policy)?.[1]);
    const same = [requests, requestsPerDay].find(({ windowMs }) => windowMs === seconds * 1_000);
    const stated = `the headers state ${max} requests per ${seconds} s, the document ${same?.max}`;
    if (same !== undefined && max < same.max) probe("limits").differ(`${stated}: give the client \`limits\``);
  }
};

/** The result of `touchpoint doctor`, as `--json` prints it. */
export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/** Compares a service with the document, with GET requests only. */
export const diagnose = async (
  client: Client,
  { domain, signal }: { readonly domain?: string | undefined; readonly signal: AbortSignal },
) => {
  const examined = examination(client, signal);
  await examineContacts(examined);
  await examined.learnMissingPath();
  await examineCompanies(examined, domain?.toLowerCase());
  await examineScheduled(examined);
  await examineLimits(examined);
  return examined.found;
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
};
