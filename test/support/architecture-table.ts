/** One layer of `src/`: its files, and what they may import beside each other. */
export interface Rule {
  readonly name: string;
  /** Exact paths; `dir/*` for the files of a folder, `dir/**` for those of its folders too. */
  readonly files: readonly string[];
  /** The layers it may import. */
  readonly below: readonly string[];
  /** Layers of which it may import types only. */
  readonly typesOf?: readonly string[];
  /** Single files it may import, whatever their layer. */
  readonly entries?: readonly string[];
  /** `apart`: its files never import each other. */
  readonly siblings?: "apart";
}

const ground = ["errors", "clock"];
const wire = [...ground, "schemas", "operations"];
const calls = [...wire, "workspace", "ledger", "options", "http", "call"];
const long = ["paging", "batch", "ingest"];

/** Every file of `src/` belongs to one of these, lowest first. */
export const layers: readonly Rule[] = [
  { name: "errors", files: ["src/errors.ts", "src/realms.ts"], below: [] },
  { name: "clock", files: ["src/clock.ts", "src/when-aborted.ts"], below: [] },
  // What both the ledger and ingest stand on; neither may import the other.
  { name: "durable", files: ["src/durable-file.ts", "src/content-id.ts"], below: ["errors"] },
  { name: "schemas", files: ["src/schemas/*"], below: ground },
  { name: "operations", files: ["src/operations/*"], below: [...ground, "schemas"] },
  // Below options, which are typed by it.
  { name: "workspace", files: ["src/workspace/*"], below: ["errors", "schemas"] },
  // Below options, which names its type; it is given what it calls.
  { name: "ledger", files: ["src/ledger/*"], below: [...wire, "durable"], entries: ["src/option-faults.ts"] },
  {
    name: "options",
    files: [
      "src/options.ts",
      "src/option-faults.ts",
      "src/client-faults.ts",
      "src/held-options.ts",
      "src/limits.ts",
      "src/sharing.ts",
      "src/log.ts",
      "src/version.ts",
      "src/notices.ts",
    ],
    below: [...wire, "workspace", "ledger"],
  },
  { name: "http", files: ["src/http/*"], below: [...wire, "ledger", "options"] },
  {
    name: "call",
    files: [
      "src/call.ts",
      "src/answer.ts",
      "src/refusal.ts",
      "src/request.ts",
      "src/received.ts",
      "src/within-call.ts",
      "src/free-request.ts",
    ],
    below: [...wire, "workspace", "ledger", "options", "http"],
  },
  { name: "paging", files: ["src/paging/*"], below: calls },
  { name: "batch", files: ["src/batch/*"], below: calls },
  { name: "ingest", files: ["src/ingest/*"], below: [...calls, "batch", "durable"] },
  {
    name: "resources",
    files: ["src/resources/*"],
    below: [...calls.filter((name) => name !== "http"), ...long],
    siblings: "apart",
  },
  { name: "connect", files: ["src/connect.ts", "src/family.ts"], below: calls },
  { name: "client", files: ["src/client.ts"], below: [...calls, ...long, "resources", "connect"] },
  { name: "index", files: ["src/index.ts"], below: [...calls, ...long, "resources", "client"] },
  // Never client code: the fake must not share the client's mistakes.
  { name: "sandbox", files: ["src/sandbox/**"], below: wire },
  {
    name: "redis",
    files: ["src/redis/*"],
    below: ground,
    typesOf: ["operations", "options", "http", "ledger"],
    entries: ["src/limits.ts", "src/option-faults.ts", "src/http/day-count.ts"],
  },
  { name: "files", files: ["src/files/*"], below: ["errors"], entries: ["src/option-faults.ts"] },
  {
    name: "cli",
    files: ["src/cli/*"],
    below: [],
    // One rule for misspelt fields; it stands on nothing.
    entries: [
      "src/index.ts",
      "src/sandbox/index.ts",
      "src/redis/index.ts",
      "src/files/index.ts",
      "src/schemas/near-miss.ts",
    ],
  },
];

/** The stages of the pipeline and its transports: they meet in `pipeline.ts` only. */
export const stages: readonly string[] = [
  "src/http/retry.ts",
  "src/http/pacing.ts",
  "src/http/observe.ts",
  "src/http/redact.ts",
  "src/http/auth.ts",
  "src/http/transport.ts",
  "src/http/fetch-transport.ts",
];

/** The only places that may import each package, types included. */
export const vendors: Readonly<Record<string, readonly string[]>> = {
  // The declaration file types the light build, which ships without types.
  bottleneck: ["src/http/leases.ts", "src/http/bottleneck-light.d.ts"],
  "csv-parse": ["src/files/*"],
  "csv-stringify": ["src/files/*"],
  ioredis: ["src/redis/*"],
  msw: ["src/sandbox/**"],
  "p-retry": ["src/http/retry.ts"],
  undici: ["src/http/sockets.ts"],
  zod: ["src/schemas/*", "src/operations/*"],
};
