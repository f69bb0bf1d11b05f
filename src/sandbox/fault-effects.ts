import { isRecord } from "../runtime/values.ts";
import type { Answer } from "./answer.ts";
import type { Fault, FaultName, ItemsFault, StatusFault } from "./faults.ts";
import { isArray } from "./json.ts";

/** How a fault changes the service's own answer. Unless `applied` is set, the request never reaches the rules. */
interface Effect {
  readonly applied: boolean;
  answer(own: Answer): Answer;
}

/** Keeps only the first field of a record. In pages and batch answers it does so in each record inside. */
const firstField = (value: unknown): unknown => {
  if (!isRecord(value)) return value;
  for (const list of ["data", "results"]) {
    const records = value[list];
    if (isArray(records)) return { ...value, [list]: records.map(firstField) };
  }
  return Object.fromEntries(Object.entries(value).slice(0, 1));
};

const htmlPage: Answer = {
  status: 502,
  headers: { "content-type": "text/html" },
  body: "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
};
const reset: Answer = { status: 0, headers: {}, body: "", delivery: "reset" };
const stall: Answer = { status: 0, headers: {}, body: "", delivery: "stall" };

const unapplied = (answer: Answer): Effect => ({ applied: false, answer: () => answer });
const applied = (answer: Effect["answer"]): Effect => ({ applied: true, answer });

/** The effects of faults, keyed by name. `FaultName` describes each of them. */
const effects: Readonly<Record<FaultName, Effect>> = {
  "reset-before": unapplied(reset),
  "reset-after-apply": applied(() => reset),
  truncate: applied((own) => ({ ...own, delivery: "truncate" })),
  stall: unapplied(stall),
  "stall-after-apply": applied(() => stall),
  garbage: applied((own) => ({ ...own, body: '{"id": "ct_1", "email": <<<' })),
  "html-502": unapplied(htmlPage),
  "missing-fields": applied((own) =>
    own.body === "" ? own : { ...own, body: JSON.stringify(firstField(JSON.parse(own.body))) },
  ),
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
  if ("items" in fault) return { label: "items", failing: fault, ...applied((own) => own) };
  if ("delayMs" in fault)
    return { label: "delay", ...applied((own) => ({ ...own, delayMs: fault.delayMs })) };
  return { label: `status-${fault.status}`, ...statusEffect(fault) };
};
