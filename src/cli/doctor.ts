import type { Client } from "../index.ts";
import { type CliCommand, exitCode, isSet, textOf } from "./command.ts";
import { connect, connectionOptions } from "./connect.ts";
import { examineContacts } from "./doctor-lists.ts";
import { examinePaths } from "./doctor-paths.ts";
import { createAsk, type Finding, type LimiterReport, limiterOf, lowerThan } from "./doctor-probes.ts";

/** The operations that a GET request can check. */
const probed: readonly string[] = ["contacts.list", "companies.findByDomain", "emails.scheduled.list"];

/** Operations that only a write request could check. For two of the inferred ones, a GET shows whether the path exists. */
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
  readonly differs: readonly Omit<Finding, "level">[];
  readonly notes: readonly Omit<Finding, "level">[];
  /** Ready to paste into the client's options. */
  readonly routes: Readonly<Record<string, string>>;
  readonly limiter: LimiterReport;
  readonly probed: readonly string[];
  readonly notProbed: readonly string[];
}

const rate = ({ max, perMs }: { readonly max: number; readonly perMs: number }): string =>
  `${max} requests per ${perMs / 1_000} s`;

const limitFindings = async ({ stated }: LimiterReport): Promise<readonly Finding[]> => {
  const { requests, requestsPerDay } = (await import("../sandbox/index.ts")).documentedLimits;
  return lowerThan(stated, [requests, requestsPerDay]).map((lower) => ({
    operation: "limits",
    level: "differs",
    text: `the headers state ${rate(lower.stated)}, the document ${rate(lower.documented)}: give the client \`limits\``,
  }));
};

/** Compares a service with the document, with GET requests only. */
export const diagnose = async (
  client: Client,
  { domain, signal }: { readonly domain?: string | undefined; readonly signal: AbortSignal },
): Promise<Diagnosis> => {
  const ask = createAsk(client, signal);
  const contacts = await examineContacts(ask);
  const { findings, routes } = await examinePaths(ask, domain?.toLowerCase());
  const limiter = limiterOf(ask.answers);
  const all = [...contacts, ...findings, ...(await limitFindings(limiter))];
  const of = (wanted: Finding["level"]) =>
    all.filter(({ level }) => level === wanted).map(({ operation, text }) => ({ operation, text }));
  const { requests } = ask;
  return { requests, differs: of("differs"), notes: of("note"), routes, limiter, probed, notProbed };
};

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `\n${title}\n${lines.map((line) => `  ${line}\n`).join("")}`;

const described = ({ operation, text }: Omit<Finding, "level">): string => `${operation}: ${text}`;

const limiterLines = ({ headers, kind, stated }: LimiterReport): readonly string[] => [
  `kind: ${kind}`,
  ...stated.map((limit) => `states ${rate(limit)}`),
  ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
];

/** The diagnosis as text. */
export const describeDiagnosis = (found: Diagnosis): string => {
  const { requests, differs, notes, routes, limiter } = found;
  const verdict = differs.length === 0 ? "nothing differs" : `${differs.length} differ`;
  return (
    `${requests} requests, all of them GET: ${verdict}.\n` +
    section("Differs from the document:", differs.map(described)) +
    section("Worth knowing:", notes.map(described)) +
    section("Limiter, as far as headers tell:", limiterLines(limiter)) +
    section(
      "For the client's options:",
      Object.keys(routes).length === 0 ? [] : [`routes: ${JSON.stringify(routes)}`],
    ) +
    section("Probed:", [found.probed.join(", ")]) +
    section("Not probed, since only a change would tell:", found.notProbed)
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
    operands: [],
    options: {
      "base-url": { type: "string", value: "<url>", about: "default: TOUCHPOINT_BASE_URL" },
      domain: {
        type: "string",
        value: "<name>",
        about: "the domain of an existing company, to check its record",
      },
      ...connectionOptions,
      json: { type: "boolean", about: "the result as one line of JSON" },
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
