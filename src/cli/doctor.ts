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

/** Any status is a response here, except 401: without a valid key there is nothing to find out. */
const answerOf = (error: unknown): Answer => {
  if (error instanceof ApiError && !(error instanceof AuthenticationError)) return error;
  if (!(error instanceof ResponseValidationError)) throw error;
  return { status: error.status, attempts: error.attempts, headers: new Headers(), body: undefined };
};

/** Sends GET requests through the client, so that it keeps the limits. */
const examine = (client: Client, signal: AbortSignal) => {
  const differs: Finding[] = [];
  const notes: Finding[] = [];
  const limits: Record<string, string> = {};
  const found = { requests: 0, differs, notes, routes: {}, limits, notProbed };
  /** How a path that does not exist is answered; undefined if that cannot be told. */
  const missing: { signature?: string } = {};
  /** @throws AuthenticationError, ConnectionError and RateLimitError. */
  const get = async (path: string, query?: Readonly<Record<string, string | number>>): Promise<Answer> => {
    const answer = await client
      .request({ method: "GET", path, query }, { signal, maxRetries: 1 })
      .withResponse()
      .then(({ data, response }) => ({ ...response, body: data }), answerOf);
    found.requests += answer.attempts;
    for (const [name, value] of answer.headers) if (/^(x-)?rate-?limit/.test(name)) limits[name] = value;
    return answer;
  };
  return { found, get, missing };
};

type Examined = ReturnType<typeof examine>;

/** What a probe finds: a difference from the document, or only a note. */
type Found = string | { readonly note: string };

/** The type of a value, never the value itself: responses hold personal data. */
const kindOf = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
};

/** The fields of an object; none of anything else. */
const fieldsIn = (value: unknown): Readonly<Record<string, unknown>> =>
  kindOf(value) === "object" ? Object(value) : {};

const signatureOf = ({ status, body }: Answer, path: string): string =>
  `${status} ${JSON.stringify(body ?? null).replaceAll(path, "")}`;

/** A status that the document does not state, with the methods that a 405 names. */
const statusFault = ({ status, headers }: Answer): string => {
  const methods = headers.get("allow");
  return `answers ${status}${methods === null ? "" : ` (it allows ${methods})`}`;
};

/** Asks for a page of a list. @returns undefined if it is no page. */
async function* page(
  { get }: Examined,
  path: string,
  part: { readonly skip?: number; readonly limit?: number },
) {
  const answer = await get(path, part);
  if (answer.status !== 200)
    return void (yield answer.status === 404 ? `${path} does not answer` : statusFault(answer));
  const { body } = answer;
  const { data, ...counts } = fieldsIn(body);
  if (!Array.isArray(data)) {
    const names = Object.keys(fieldsIn(body)).sort().join(", ") || "no fields";
    const shape = kindOf(body) === "object" ? `an object with ${names}` : kindOf(body);
    return void (yield `answers ${body === undefined ? "no JSON" : shape}, not { data, total, skip, limit }`);
  }
  const { total } = counts;
  const { skip, limit } = { skip: 0, limit: 50, ...part };
  for (const [name, asked] of Object.entries({ total, skip, limit })) {
    const count = counts[name];
    if (typeof count !== "number") yield `${name} must be number, is ${kindOf(count)}`;
    else if (count !== asked) yield `asked for ${name} ${asked}, the page says ${count}`;
  }
  if (typeof total !== "number") return undefined;
  const due = Math.max(0, Math.min(limit, total - skip));
  if (data.length !== due)
    yield `of ${total} records, skip ${skip} and limit ${limit} give ${data.length} and not ${due}`;
  return { data, total, ids: data.map((record) => fieldsIn(record).id) };
}

/** Compares records with their documented type and fields. */
function* compare(records: readonly unknown[], schema: Schema): Generator<Found> {
  for (const record of records)
    for (const issue of schema.safeParse(record).error?.issues ?? []) {
      const name = issue.path.filter((key) => typeof key !== "number").join(".") || "a record";
      const value = issue.path.reduce<unknown>((at, key) => Object(at)[key], record);
      yield `${name} ${"expected" in issue ? `must be ${issue.expected}` : issue.message}, is ${kindOf(value)}`;
    }
  const names = new Set(records.flatMap((record) => Object.keys(fieldsIn(record))));
  for (const known of fieldsOf(schema)) names.delete(known);
  if (names.size > 0)
    yield { note: `has fields that the document does not: ${[...names].sort().join(", ")}` };
}

const largest = { skip: 0, limit: 200 };

const isSame = (ids: readonly unknown[], others: readonly unknown[]): boolean =>
  ids.every((id, at) => at >= others.length || id === others[at]);

/** The shape of the list, its counts, whether its order is stable, and its search. */
async function* contacts(examined: Examined): AsyncGenerator<Found> {
  const path = "/api/v1/contacts";
  const first = yield* page(examined, path, largest);
  if (first === undefined) return;
  const { data, ids, total } = first;
  yield* compare(data, Contact);
  if (new Set(ids).size < ids.length) yield "the same record comes twice in a page";
  if (ids.length === 0) yield { note: "holds no contact: shapes and order are not compared" };
  const plain = yield* page(examined, path, {});
  if (!isSame(plain?.ids ?? [], ids)) yield "the order changes from one request to the next";
  const half = ids.length >> 1;
  const rest = half > 0 ? yield* page(examined, path, { ...largest, skip: half }) : undefined;
  if (!isSame(rest?.ids ?? [], ids.slice(half)))
    yield "a page further on does not go on where the one before it ends";
  const { email } = fieldsIn(data[0]);
  if (typeof email === "string") {
    const { body } = await examined.get(path, { search: email, limit: largest.limit });
    const matches = fieldsIn(body);
    if (![matches.data].flat().some((contact) => fieldsIn(contact).email === email))
      yield "search does not find a contact by its email, as contacts.find and upsert need";
    else if (total > 1 && matches.total === total) yield "search finds every contact: it seems to be ignored";
  }
  if ([plain, rest].some((later) => later !== undefined && later.total !== total))
    yield { note: "the list changed meanwhile: what differs may come of that, run it again" };
}

/** The companies of an answer whose form the document does not show. */
const companiesIn = (body: unknown): readonly unknown[] => {
  const { data, companies, leads, company, lead } = fieldsIn(body);
  const one = [company, lead, data, body].find((record) => "id" in fieldsIn(record));
  return [body, data, companies, leads].find(Array.isArray) ?? (one === undefined ? [] : [one]);
};

/** Whether a missing path can be told from a missing record. */
async function* paths({ get, missing }: Examined): AsyncGenerator<Found> {
  const nowhere = "/api/v1/touchpoint-doctor-missing";
  const answer = await get(nowhere);
  if (answer.status === 404) missing.signature = signatureOf(answer, nowhere);
  else yield { note: "a path that cannot exist is not answered 404: which paths exist cannot be told" };
}

/** The inferred path of the companies, and what it answers for a domain. */
async function* companies({ found, get, missing }: Examined, domain?: string): AsyncGenerator<Found> {
  // The document's two words for a company.
  const [own, other] = ["/api/v1/companies", "/api/v1/leads"];
  // A domain that cannot exist: a service that lists anyone for it ignores `domain`.
  const asked = domain ?? "touchpoint.invalid";
  const ask = async (path: string): Promise<Answer | undefined> => {
    const answer = await get(path, { domain: asked });
    return signatureOf(answer, path) === missing.signature ? undefined : answer;
  };
  const usual = await ask(own);
  const answer = usual ?? (await ask(other));
  if (answer === undefined) return yield `neither ${own} nor ${other} answers`;
  if (usual === undefined) {
    yield `${own} does not answer, ${other} does`;
    found.routes = { "companies.findByDomain": other, "companies.create": other };
  }
  // No company of that domain may also be a 404; the client reads it as null.
  if (answer.status !== 200 && answer.status !== 404) return yield statusFault(answer);
  const companies = answer.status === 200 ? companiesIn(answer.body) : [];
  const domains = companies.map((company) => String(fieldsIn(company).domain).toLowerCase());
  const strangers = domains.filter((name) => name !== asked).length;
  if (strangers > 0)
    yield `asked for one domain, it answers ${strangers} companies of others: domain is ignored`;
  else if (domain === undefined) yield { note: "its record is not compared: give --domain of a company" };
  else if (companies.length === 0) yield `finds no company of ${domain}`;
  else yield* compare(companies, Company);
}

async function* scheduled(examined: Examined): AsyncGenerator<Found> {
  const found = yield* page(examined, "/api/v1/emails/scheduled", largest);
  if (found?.data.length === 0) yield { note: "holds no email: the shape of one is not compared" };
  yield* compare(found?.data ?? [], ScheduledEmail);
}

/** Limits in headers, `"default";q=100;w=10` or the older `100;w=10`, that are lower than the documented ones. */
async function* limits({ found }: Examined): AsyncGenerator<Found> {
  const { requests, requestsPerDay } = (await import("../sandbox/index.ts")).documentedLimits;
  for (const policy of Object.values(found.limits).flatMap((value) => value.split(","))) {
    const max = Number(/(?:;\s*q=|^\s*)(\d+)/.exec(policy)?.[1]);
    const seconds = Number(/;\s*w=(\d+)/.exec(policy)?.[1]);
    const same = [requests, requestsPerDay].find(({ windowMs }) => windowMs === seconds * 1_000);
    const stated = `the headers state ${max} requests per ${seconds} s, the document ${same?.max}`;
    if (same !== undefined && max < same.max) yield `${stated}: give the client \`limits\``;
  }
}

const probes = {
  "contacts.list": contacts,
  paths,
  "companies.findByDomain": companies,
  "emails.scheduled.list": scheduled,
  limits,
};

/** The result of `touchpoint doctor`, as `--json` prints it. */
export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/** Compares a service with the document, with GET requests only. */
export const diagnose = async (
  client: Client,
  { domain, signal }: { readonly domain?: string | undefined; readonly signal: AbortSignal },
) => {
  const examined = examine(client, signal);
  const { found } = examined;
  for (const [operation, probe] of Object.entries(probes))
    for await (const finding of probe(examined, domain?.toLowerCase())) {
      if (typeof finding !== "string") found.notes.push({ operation, text: finding.note });
      else if (!found.differs.some(({ text }) => text === finding))
        found.differs.push({ operation, text: finding });
    }
  return found;
};

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n${title}\n${lines.map((line) => `  ${visible(line)}\n`).join("")}`;

/** The diagnosis as text. */
export const describeDiagnosis = ({ requests, differs, notes, routes, limits }: Diagnosis): string => {
  const verdict = differs.length === 0 ? "nothing differs" : `${differs.length} differ`;
  const told = (findings: readonly Finding[]) =>
    findings.map(({ operation, text }) => `${operation}: ${text}`);
  const given = Object.keys(routes).length === 0 ? [] : [`routes: ${JSON.stringify(routes)}`];
  const headers = Object.entries(limits).map(([name, value]) => `${name}: ${value}`);
  return (
    `${requests} requests, all of them GET: ${verdict}.\n` +
    section("Differs from the document:", told(differs)) +
    section("Worth knowing:", told(notes)) +
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
