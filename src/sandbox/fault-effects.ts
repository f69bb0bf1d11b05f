import { isRecord } from "../runtime/values.ts";
import type { Answer } from "./answer.ts";
import type { Fault, FaultName, ItemsFault, StatusFault } from "./faults.ts";
import { isArray } from "./json.ts";

/** How a fault changes the service's own answer. Unless `applied` is set, the request never reaches the rules. */
interface Effect {
  readonly applied: boolean;
  answer(own: Answer): Answer;
}

const deepLevels = 100_000;

/** Changes a record. In pages and batch answers it changes each record inside, and keeps the envelope. */
const mapRecords = (value: unknown, change: (record: Record<string, unknown>) => unknown): unknown => {
  if (!isRecord(value)) return value;
  for (const list of ["data", "results"]) {
    const records = value[list];
    if (isArray(records)) return { ...value, [list]: records.map((record) => mapRecords(record, change)) };
  }
  return change({ ...value });
};

const swapType = (value: unknown): unknown => {
  if (typeof value === "string") return 7;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
};

const mapFields = (record: Record<string, unknown>, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

const bare = (status: number, headers = {}): Answer => ({ status, headers, body: "" });

const htmlPage: Answer = {
  ...bare(502, { "content-type": "text/html" }),
  body: "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
};

const unapplied = (answer: Answer): Effect => ({ applied: false, answer: () => answer });
const applied = (change: (own: Answer) => Partial<Answer>): Effect => ({
  applied: true,
  answer: (own) => ({ ...own, ...change(own) }),
});
const records = (change: (record: Record<string, unknown>) => unknown): Effect =>
  applied(({ body }) => (body === "" ? {} : { body: JSON.stringify(mapRecords(JSON.parse(body), change)) }));
const delivered = (delivery: FaultName): Effect => applied(() => ({ delivery }));
const packed = (encoding: string, damage: Partial<Answer> = {}): Effect =>
  applied(({ headers }) => ({ headers: { ...headers, "content-encoding": encoding }, ...damage }));
const reset: Answer = { ...bare(0), delivery: "reset" };
const stall: Answer = { ...bare(0), delivery: "stall" };

/** The effects of faults, keyed by name. `FaultName` describes each of them. */
const effects: Readonly<Record<FaultName, Effect>> = {
  "reset-before": unapplied(reset),
  "reset-after-apply": applied(() => reset),
  truncate: delivered("truncate"),
  stall: unapplied(stall),
  "stall-after-apply": applied(() => stall),
  "stall-body": delivered("stall-body"),
  drip: delivered("drip"),
  garbage: applied(() => ({ body: '{"id": "ct_1", "email": <<<' })),
  "wrong-type": applied(({ headers }) => ({ headers: { ...headers, "content-type": "text/plain" } })),
  "html-502": unapplied(htmlPage),
  "html-502-after-apply": applied(() => htmlPage),
  "empty-500": unapplied(bare(500)),
  redirect: unapplied(bare(307, { location: "https://elsewhere.example/api/v1/" })),
  "missing-fields": records((record) => Object.fromEntries(Object.entries(record).slice(0, 1))),
  "unknown-fields": records((record) => ({ ...record, aNewField: { nested: true }, another: ["x"] })),
  "null-fields": records((record) => mapFields(record, () => null)),
  "wrong-types": records((record) => mapFields(record, swapType)),
  "no-content": applied(() => ({ status: 204, body: "" })),
  gzip: packed("gzip"),
  br: packed("br"),
  "gzip-corrupt": packed("gzip", { delivery: "gzip-corrupt" }),
  "deep-json": applied(() => ({ body: `{"deep":${"[".repeat(deepLevels)}${"]".repeat(deepLevels)}}` })),
  "duplicate-headers": applied(({ headers }) => ({
    headers: { ...headers, "retry-after": ["1", "2"], "x-request-id": ["a", "b"] },
  })),
  "early-hints": delivered("early-hints"),
  "close-after": delivered("close-after"),
};

export const faultNames = Object.keys(effects);

/** These statuses allow no body; `Response` throws if it gets one. */
const bodiless = [204, 205, 304];

/** The effect of a planned fault, and its name in `state.requests`. */
export interface PlannedEffect extends Effect {
  readonly label: string;
  /** The failing batch items, which the rules skip. */
  readonly failing?: ItemsFault;
}

const statusEffect = (fault: StatusFault): Effect => {
  const { status, retryAfter } = fault;
  const { body: planned = { error: `Planned fault: status ${status}.` } } = fault;
  const body = bodiless.includes(status) ? "" : planned;
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  // Header names ignore case. In lower case, a header of the fault replaces the default one.
  for (const [name, value] of Object.entries(fault.headers ?? {})) headers[name.toLowerCase()] = value;
  const answer = { status, headers, body: typeof body === "string" ? body : JSON.stringify(body) };
  return { applied: fault.applied === true, answer: () => answer };
};

export const effectOf = (fault: Fault): PlannedEffect => {
  if (typeof fault === "string") return { label: fault, ...effects[fault] };
  if ("items" in fault) return { label: "items", failing: fault, ...applied(() => ({})) };
  if ("delayMs" in fault) return { label: "delay", ...applied(() => ({ delayMs: fault.delayMs })) };
  return { label: `status-${fault.status}`, ...statusEffect(fault) };
};
