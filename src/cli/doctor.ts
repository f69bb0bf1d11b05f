import type { Client } from "../index.ts";
import { type CliCommand, exitCode, isSet, textOf } from "./command.ts";
import { connect, connectionOptions } from "./connect.ts";
import { Examination, type Finding } from "./doctor-examination.ts";
import { examineContacts, examinePaths } from "./doctor-probes.ts";
import { visible } from "./terminal.ts";

/** What no GET request can check. For the first, one shows whether the path exists. */
const notProbed: readonly string[] = [
  "companies.create",
  "lists.create",
  "emails.scheduled.update",
  "emails.scheduled.cancel",
  "every documented call that creates, changes, adds, removes, records or sends",
];

/** The result of `touchpoint doctor`, as `--json` prints it. */
export interface Diagnosis {
  /** The number of GET requests; it sends no others. */
  readonly requests: number;
  readonly differs: readonly Finding[];
  readonly notes: readonly Finding[];
  /** Ready to paste into the client's options. */
  readonly routes: Readonly<Record<string, string>>;
  /** The service's rate limit headers. */
  readonly limits: Readonly<Record<string, string>>;
  readonly notProbed: readonly string[];
}

/** Finds limits in the headers, `"default";q=100;w=10` or the older `100;w=10`, that are lower than the documented ones. */
const examineLimits = async (examination: Examination): Promise<void> => {
  const { requests, requestsPerDay } = (await import("../sandbox/index.ts")).documentedLimits;
  for (const policy of Object.values(examination.limitHeaders).flatMap((value) => value.split(","))) {
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

/** Compares a service with the document, with GET requests only. */
export const diagnose = async (
  client: Client,
  { domain, signal }: { readonly domain?: string | undefined; readonly signal: AbortSignal },
): Promise<Diagnosis> => {
  const examination = new Examination(client, signal);
  await examineContacts(examination);
  const routes = await examinePaths(examination, domain?.toLowerCase());
  await examineLimits(examination);
  const { requests, differs, notes, limitHeaders: limits } = examination;
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
  shape: {
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
      "--json": "the result as one line of JSON",
    },
  },
  run: async (request) => {
    const baseUrl = textOf(request, "base-url");
    const client = await connect(request, baseUrl === undefined ? {} : { baseUrl });
    try {
      const found = await diagnose(client, { domain: textOf(request, "domain"), signal: request.interrupt });
      request.stdout.write(isSet(request, "json") ? `${JSON.stringify(found)}\n` : describeDiagnosis(found));
      return found.differs.length === 0 ? exitCode.ok : exitCode.someRejected;
    } finally {
      await client.close();
    }
  },
  afterInterrupt: () => "Nothing was changed.",
};
