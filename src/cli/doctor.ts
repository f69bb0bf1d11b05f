import {
  ApiError,
  type ApiPromise,
  AuthenticationError,
  type CallOptions,
  type Client,
  Company,
  Contact,
  ResponseValidationError,
  ScheduledEmail,
  type Schema,
} from "../index.ts";
import { isRecord } from "../runtime/values.ts";
import { type CliCommand, exitCode, jsonOption, print } from "./command.ts";
import { connect, connectionOptions } from "./connect.ts";
import { fieldsOf } from "./contact-columns.ts";
import { visible } from "./terminal.ts";

/** The response to a GET request; the body is undefined if it was not JSON. */
type Answer = Pick<ApiError, "status" | "body">;

/** Returns an error's response. Rethrows a 401, because the doctor needs a valid key, and errors without a response. */
const answerOf = (error: unknown): Answer => {
  if (error instanceof ApiError && !(error instanceof AuthenticationError)) return error;
  if (!(error instanceof ResponseValidationError)) throw error;
  return { status: error.status, body: undefined };
};

/** The type of a value, never the value itself, because responses contain personal data. */
const kindOf = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
};

/** The fields of an object. Any other value has no fields. */
const fieldsIn = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** Records per page: the maximum in the document. */
const limit = 200;

/**
 * Creates the functions and the report of an examination. The functions send GET requests through the client, which
 * stays within the rate limits, and add differences to the report.
 */
const createExamination = (client: Client, signal: AbortSignal) => {
  const differs = new Set<string>();
  const notes = new Set<string>();
  const report = { differs, notes, routes: {} };

  /** @throws AuthenticationError, ConnectionError and RateLimitError. */
  const request = (call: (options: CallOptions) => ApiPromise<unknown>): Promise<Answer> =>
    call({ signal, maxRetries: 1 })
      .withResponse()
      .then(({ data, response }) => ({ status: response.status, body: data }), answerOf);

  const get = (path: string, query: Readonly<Record<string, string | number>>): Promise<Answer> =>
    request((options) => client.request({ method: "GET", path, query }, options));

  /** Requests a page of a list. @returns its records and total; undefined if the response is not a page. */
  const page = async (operation: string, path: string, skip = 0) => {
    const { status, body } = await get(path, { skip, limit });
    const { data, total, ...counts } = fieldsIn(body);
    if (status !== 200) return void differs.add(`${operation}: the status is ${status}, not 200`);
    if (!Array.isArray(data) || typeof total !== "number")
      return void differs.add(`${operation}: its response is not a page { data, total, skip, limit }`);
    for (const [name, requested] of Object.entries({ skip, limit }))
      if (counts[name] !== requested)
        differs.add(
          `${operation}: requested ${name} ${requested}, but the page has ${counts[name] ?? `no ${name}`}`,
        );
    const expected = Math.max(0, Math.min(limit, total - skip));
    if (data.length !== expected)
      differs.add(
        `${operation}: the page at skip ${skip} must have ${expected} of ${total} records, but it has ${data.length}`,
      );
    return { data, total, ids: data.map((record) => fieldsIn(record).id) };
  };

  /** Compares records with their documented type and fields. */
  const compare = (operation: string, records: readonly unknown[], schema: Schema): void => {
    if (records.length === 0)
      notes.add(`${operation}: the response has no record, so no record was compared`);
    for (const record of records)
      for (const issue of schema.safeParse(record).error?.issues ?? []) {
        const value = issue.path.reduce<unknown>((inner, key) => Object(inner)[key], record);
        const name = issue.path.filter((key) => typeof key !== "number").join(".") || "a record";
        const rule = "expected" in issue ? `must be ${issue.expected}` : issue.message;
        differs.add(`${operation}: ${name} ${rule}, is ${kindOf(value)}`);
      }
    const names = new Set(records.flatMap((record) => Object.keys(fieldsIn(record))));
    for (const field of fieldsOf(schema)) names.delete(field);
    if (names.size > 0)
      notes.add(`${operation}: the records have undocumented fields: ${[...names].sort().join(", ")}`);
  };

  return { client, report, request, get, page, compare };
};

type Examination = ReturnType<typeof createExamination>;

/** Checks the list of contacts: the shape, the counts, the order and the search. */
const examineContacts = async ({ client, report, request, page, compare }: Examination) => {
  const [operation, path] = ["contacts.list", "/api/v1/contacts"];
  const first = await page(operation, path);
  if (first === undefined) return;
  compare(operation, first.data, Contact);
  const half = first.ids.length >> 1;
  const second = await page(operation, path, half);
  if (second !== undefined && first.ids.slice(half).some((id, index) => id !== second.ids[index]))
    report.differs.add(
      `${operation}: a request with skip=${half} does not return the same records, in the same order, as the first request did from record ${half} on. If contacts were added or deleted meanwhile, run doctor again`,
    );
  const { email } = fieldsIn(first.data[0]);
  if (typeof email !== "string") return;
  const { body } = await request((options) => client.contacts.find(email, options));
  if (!isRecord(body))
    report.differs.add(
      `${operation}: search does not find a contact by its email, so find and upsert do not work`,
    );
};

/** Checks the inferred path of companies, which the document also calls leads, and the company with the domain. */
const examineCompanies = async (examination: Examination, domain: string | undefined): Promise<void> => {
  const { client, report, request, get, compare } = examination;
  const operation = "companies.findByDomain";
  const name = domain ?? "touchpoint.invalid";
  const signatureOf = async (path: string): Promise<string> => {
    const { status, body } = await get(path, { domain: name });
    return `${status} ${JSON.stringify(body ?? null).replaceAll(path, "")}`;
  };
  // An unknown domain can cause a 404, too. A path is missing if its response equals that of a path that can't exist.
  const missing = await signatureOf("/api/v1/touchpoint-doctor-missing");
  const [own, other] = ["/api/v1/companies", "/api/v1/leads"];
  if ((await signatureOf(own)) === missing) {
    if ((await signatureOf(other)) === missing)
      return void report.differs.add(`${operation}: the service has neither ${own} nor ${other}`);
    report.differs.add(`${operation}: the service has no ${own}, but it has ${other}`);
    report.routes = { [operation]: other, "companies.create": other };
  }
  const routed = client.withOptions({ routes: report.routes, responseValidation: "off" });
  const { status, body } = await request((options) => routed.companies.findByDomain(name, options));
  if (status !== 200 && status !== 404)
    report.differs.add(`${operation}: the status is ${status}, not 200 or 404`);
  else if (isRecord(body)) compare(operation, [body], Company);
  else if (domain === undefined)
    report.notes.add(
      `${operation}: No company record was compared. To compare one, pass --domain <domain of a company>`,
    );
  else report.differs.add(`${operation}: finds no company with the domain ${domain}`);
};

/** The result of `touchpoint doctor`, as `--json` prints it. */
export type Diagnosis = Awaited<ReturnType<typeof diagnose>>;

/** Compares a service with the document, with GET requests only. */
export const diagnose = async (client: Client, signal: AbortSignal, domain?: string) => {
  const examination = createExamination(client, signal);
  await examineContacts(examination);
  await examineCompanies(examination, domain?.toLowerCase());
  const { report, page, compare } = examination;
  const scheduled = await page("emails.scheduled.list", "/api/v1/emails/scheduled");
  if (scheduled !== undefined) compare("emails.scheduled.list", scheduled.data, ScheduledEmail);
  return { ...report, differs: [...report.differs], notes: [...report.notes] };
};

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n${title}\n${lines.map((line) => `  ${visible(line)}\n`).join("")}`;

export const describeDiagnosis = ({ differs, notes, routes }: Diagnosis): string => {
  const count = differs.length;
  const verdict = count === 0 ? "Nothing differs" : `${count} ${count === 1 ? "difference" : "differences"}`;
  const lines = Object.keys(routes).length === 0 ? [] : [`routes: ${JSON.stringify(routes)}`];
  return (
    `${verdict}.\n` +
    section("Differs from the documentation:", differs) +
    section("Worth knowing:", notes) +
    section("Paste into new Client({ … }):", lines)
  );
};

export const doctor: CliCommand = {
  name: "doctor",
  about:
    "Compares a service with the Touchpoint API documentation. Sends about ten GET requests and changes nothing.\n" +
    "It checks inferred paths, the shapes of responses, the order and counts of lists, and undocumented fields.\n" +
    "If a path differs, it prints a routes option to paste into new Client({ … }). It never prints values of records.\n" +
    "It changes nothing, so it cannot check how the service handles changes.\n" +
    "Exit code 0: as documented. 3: something differs. 1: the service could not be reached.",
  example: "touchpoint doctor --domain acme.example",
  operands: [],
  options: {
    "--base-url <url>": "the service; default: TOUCHPOINT_BASE_URL",
    "--domain <name>": "the domain of an existing company, to check its record",
    ...connectionOptions,
    ...jsonOption,
  },
  run: async (request) => {
    await using client = await connect(request, { baseUrl: request.values["base-url"] });
    const diagnosis = await diagnose(client, request.interrupt, request.values.domain);
    await print(request, diagnosis, describeDiagnosis(diagnosis));
    return diagnosis.differs.length === 0 ? exitCode.ok : exitCode.someRejected;
  },
};
