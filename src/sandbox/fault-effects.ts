import { isDate } from "../runtime/values.ts";
import type { Answer } from "./answer.ts";
import type { Fault, FaultName } from "./faults.ts";
import { isArray, isFields } from "./json.ts";

/** What a fault makes of the service's own answer. Unless `applied`, the request never reaches the rules. */
interface Effect {
  readonly applied: boolean;
  answer(own: Answer): Answer;
}

const hugeBytes = 200 * 1024 * 1024;
const deepLevels = 100_000;

/** Changes a record. In pages and batch answers it changes each record inside, and keeps the envelope. */
const mapRecords = (value: unknown, change: (record: Record<string, unknown>) => unknown): unknown => {
  if (!isFields(value)) return value;
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

const whole = { kind: "whole" } as const;
const json = { "content-type": "application/json" };

const bare = (status: number, delivery: Answer["delivery"] = whole, headers = {}): Answer => ({
  status,
  headers,
  body: "",
  delivery,
});

const htmlPage: Answer = {
  ...bare(502, whole, { "content-type": "text/html" }),
  body: "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
};

const unapplied = (answer: Answer): Effect => ({ applied: false, answer: () => answer });
const applied = (change: (own: Answer) => Partial<Answer>): Effect => ({
  applied: true,
  answer: (own) => ({ ...own, ...change(own) }),
});
const records = (change: (record: Record<string, unknown>) => unknown): Effect =>
  applied(({ body }) => (body === "" ? {} : { body: JSON.stringify(mapRecords(JSON.parse(body), change)) }));
const reset = bare(0, { kind: "reset" });
const stall = bare(0, { kind: "stall" });
const redirectTo = (location: string, status = 307): Answer => bare(status, whole, { location });

/** The faults by name; the comments in `FaultName` say what each does. */
const effects: Readonly<Record<FaultName, Effect>> = {
  "reset-before": unapplied(reset),
  "reset-after-apply": applied(() => reset),
  truncate: applied(() => ({ delivery: { kind: "part", then: "reset" } })),
  stall: unapplied(stall),
  "stall-after-apply": applied(() => stall),
  "stall-body": applied(() => ({ delivery: { kind: "part", then: "stall" } })),
  drip: applied(() => ({ delivery: { kind: "drip", everyMs: 50 } })),
  garbage: applied(() => ({ body: '{"id": "ct_1", "email": <<<' })),
  "wrong-type": applied(({ headers }) => ({ headers: { ...headers, "content-type": "text/plain" } })),
  "html-502": unapplied(htmlPage),
  "html-502-after-apply": applied(() => htmlPage),
  "empty-500": unapplied(bare(500)),
  redirect: unapplied(redirectTo("https://elsewhere.example/api/v1/")),
  "missing-fields": records((record) => Object.fromEntries(Object.entries(record).slice(0, 1))),
  "unknown-fields": records((record) => ({ ...record, aNewField: { nested: true }, another: ["x"] })),
  "null-fields": records((record) => mapFields(record, () => null)),
  "wrong-types": records((record) => mapFields(record, swapType)),
  "no-content": applied(() => ({ status: 204, body: "" })),
  gzip: applied(() => ({ packing: "gzip" })),
  br: applied(() => ({ packing: "br" })),
  "gzip-corrupt": applied(() => ({ packing: "gzip-corrupt" })),
  "huge-body": applied(() => ({ body: `{"id":"${"x".repeat(hugeBytes)}"}` })),
  "deep-json": applied(() => ({ body: `${"[".repeat(deepLevels)}${"]".repeat(deepLevels)}` })),
  "duplicate-headers": applied(({ headers }) => ({
    headers: { ...headers, "retry-after": ["1", "2"], "x-request-id": ["a", "b"] },
  })),
  "early-hints": applied(() => ({ delivery: { kind: "early-hints" } })),
  "close-after": applied(() => ({ delivery: { kind: "close-after" } })),
};

/** The faults that have a name. */
export const faultNames = Object.keys(effects);

// Header names ignore case: in lower case, a given header replaces the default one.
const inLowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const retryAfterText = (retryAfter: number | string | Date): string =>
  isDate(retryAfter) ? retryAfter.toUTCString() : String(retryAfter);

/** Whether a status allows no body; `Response` throws if it gets one. */
export const isBodiless = (status: unknown): boolean => status === 204 || status === 205 || status === 304;

const bodyOf = (status: number): unknown =>
  isBodiless(status) ? "" : { error: `Planned fault: status ${status}.` };

/** What a planned fault does. */
export const effectOf = (fault: Fault): Effect => {
  if (typeof fault === "string") return effects[fault];
  if ("items" in fault) return applied(() => ({}));
  if ("delayMs" in fault) return applied(() => ({ delayMs: fault.delayMs }));
  if ("redirect" in fault) return unapplied(redirectTo(fault.redirect, fault.status));
  const { status, retryAfter, headers = {}, body = bodyOf(status) } = fault;
  const retry = retryAfter === undefined ? {} : { "retry-after": retryAfterText(retryAfter) };
  const answer = {
    ...bare(status, whole, { ...json, ...retry, ...inLowerCase(headers) }),
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
  return { applied: fault.applied === true, answer: () => answer };
};
