/** A layer of `src/`: its files, and what they may import in addition to each other. */
export interface Rule {
  readonly name: string;
  /** Exact paths; `dir/*` for the files of a folder, `dir/**` to include its subfolders. */
  readonly files: readonly string[];
  /** The layers that this layer may import. */
  readonly below: readonly string[];
  /** The layers from which this layer may import only types. */
  readonly typesOf?: readonly string[];
  /** Files of any layer that this layer may import. */
  readonly entries?: readonly string[];
  /** If `apart`, the files of this layer must not import each other. */
  readonly siblings?: "apart";
}

const ground = ["errors", "runtime"];
const wire = [...ground, "service"];
const settings = [...wire, "workspace", "ledger", "options"];
const calls = [...settings, "http", "call"];
const long = ["paging", "batch", "bulk"];

/** Every file of `src/` belongs to one of these layers. The lowest layer is first. */
export const layers: readonly Rule[] = [
  // Code in a browser can import this layer as its own entry, so the layer imports nothing.
  { name: "errors", files: ["src/errors.ts", "src/error-details.ts"], below: [] },
  { name: "runtime", files: ["src/runtime/*"], below: ["errors"] },
  { name: "service", files: ["src/service/*"], below: ground },
  { name: "workspace", files: ["src/workspace/*"], below: wire },
  { name: "ledger", files: ["src/ledger/*"], below: wire },
  { name: "options", files: ["src/options/*"], below: [...wire, "workspace", "ledger"] },
  { name: "http", files: ["src/http/**"], below: settings },
  {
    name: "rate-limit",
    files: ["src/rate-limit/*"],
    below: settings,
    typesOf: ["http"],
    // `http` and `rate-limit` throw the same failures: whether an attempt was sent, and that a batch must be split.
    entries: ["src/http/types.ts"],
  },
  // Limits that processes share. Each store implements the interface `Place`.
  { name: "fleet", files: ["src/fleet/*"], below: [...settings, "rate-limit"] },
  { name: "call", files: ["src/call/*"], below: [...settings, "http"] },
  { name: "paging", files: ["src/paging/*"], below: calls },
  { name: "batch", files: ["src/batch/*"], below: calls },
  { name: "bulk", files: ["src/bulk/*"], below: [...calls, "batch", "paging"] },
  {
    name: "resources",
    files: ["src/resources/*"],
    below: [...calls.filter((name) => name !== "http"), ...long],
    siblings: "apart",
  },
  {
    name: "connection",
    files: ["src/connection.ts", "src/lifecycle.ts"],
    below: [...settings, "http", "rate-limit"],
  },
  // In a worker, this transport replaces undici.
  { name: "edge", files: ["src/edge.ts"], below: [...settings, "http"] },
  { name: "client", files: ["src/client.ts"], below: [...calls, ...long, "resources", "connection"] },
  {
    name: "index",
    files: ["src/index.ts"],
    below: [...calls, ...long, "resources", "client"],
    typesOf: ["connection"],
  },
  // The sandbox imports no client code, so that it does not share the client's mistakes.
  { name: "sandbox", files: ["src/sandbox/**"], below: wire },
  {
    name: "redis",
    files: ["src/redis/*"],
    below: ground,
    typesOf: ["options", "fleet", "ledger"],
    entries: ["src/fleet/limits-over.ts", "src/ledger/rules.ts", "src/ledger/ledger-over.ts"],
  },
  {
    name: "sql",
    files: ["src/sql/*"],
    below: ground,
    typesOf: ["options", "fleet", "ledger"],
    entries: ["src/fleet/limits-over.ts", "src/ledger/rules.ts", "src/ledger/ledger-over.ts"],
  },
  {
    name: "opentelemetry",
    files: ["src/opentelemetry/*"],
    below: ground,
    typesOf: ["options"],
    entries: ["src/options/version.ts"],
  },
  { name: "files", files: ["src/files/*"], below: ground },
  {
    name: "cli",
    files: ["src/cli/*"],
    below: [],
    entries: [
      "src/index.ts",
      "src/sandbox/index.ts",
      "src/redis/index.ts",
      "src/files/index.ts",
      "src/sql/index.ts",
      "src/runtime/nearest-name.ts",
      "src/runtime/values.ts",
    ],
  },
];

/** The stages and transports of the pipeline. Only `connection.ts` imports more than one of them. */
export const stages: readonly string[] = [
  "src/http/email-guard.ts",
  "src/http/retry.ts",
  "src/rate-limit/stage.ts",
  "src/http/tracing.ts",
  "src/http/auth.ts",
  "src/http/claim-once.ts",
  "src/http/transport/undici.ts",
  "src/http/transport/fetch.ts",
];

/** The only files that may import each package, including its types. */
export const vendors: Readonly<Record<string, readonly string[]>> = {
  "@opentelemetry/api": ["src/opentelemetry/*"],
  bottleneck: ["src/batch/in-flight.ts", "src/batch/bottleneck-light.d.ts"],
  ioredis: ["src/redis/*"],
  msw: ["src/sandbox/**"],
  "p-retry": ["src/http/retry-loop.ts"],
  undici: [
    "src/http/transport/undici.ts",
    "src/http/transport/proxy.ts",
    "src/http/transport/undici-parts.d.ts",
  ],
  zod: ["src/service/*"],
};
