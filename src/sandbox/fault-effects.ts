import { isDate } from "../runtime/values.ts";
import type { Answer } from "./answer.ts";
import type { Fault } from "./faults.ts";
import { isArray, isFields } from "./json.ts";

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

const changes: Partial<Record<string, (record: Record<string, unknown>) => unknown>> = {
  "missing-fields": (record) => Object.fromEntries(Object.entries(record).slice(0, 1)),
  "unknown-fields": (record) => ({ ...record, aNewField: { nested: true }, another: ["x"] }),
  "null-fields": (record) => mapFields(record, () => null),
  "wrong-types": (record) => mapFields(record, swapType),
};

const garbage = '{"id": "ct_1", "email": <<<';

/** Applies a fault to the answer of a request that took effect. */
export const distort = (answer: Answer, fault: Fault): Answer => {
  if (typeof fault !== "string") return answer;
  const change = changes[fault];
  if (change !== undefined && answer.body !== "") {
    return { ...answer, body: JSON.stringify(mapRecords(JSON.parse(answer.body), change)) };
  }
  switch (fault) {
    case "truncate":
      return { ...answer, delivery: { kind: "part", then: "reset" } };
    case "stall-body":
      return { ...answer, delivery: { kind: "part", then: "stall" } };
    case "drip":
      return { ...answer, delivery: { kind: "drip", everyMs: 50 } };
    case "close-after":
    case "early-hints":
      return { ...answer, delivery: { kind: fault } };
    case "gzip":
    case "br":
    case "gzip-corrupt":
      return { ...answer, packing: fault };
    case "garbage":
      return { ...answer, body: garbage };
    case "wrong-type":
      return { ...answer, headers: { ...answer.headers, "content-type": "text/plain" } };
    case "no-content":
      return { ...answer, status: 204, body: "" };
    case "huge-body":
      return { ...answer, body: `{"id":"${"x".repeat(hugeBytes)}"}` };
    case "deep-json":
      return { ...answer, body: `${"[".repeat(deepLevels)}${"]".repeat(deepLevels)}` };
    case "duplicate-headers":
      return {
        ...answer,
        headers: { ...answer.headers, "retry-after": ["1", "2"], "x-request-id": ["a", "b"] },
      };
    default:
      return answer;
  }
};

const whole = { kind: "whole" } as const;
const json = { "content-type": "application/json" };

const htmlPage: Answer = {
  status: 502,
  headers: { "content-type": "text/html" },
  body: "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
  delivery: whole,
};

// Header names ignore case: in lower case, a given header replaces the default one.
const inLowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const retryAfterText = (retryAfter: number | string | Date): string =>
  isDate(retryAfter) ? retryAfter.toUTCString() : String(retryAfter);

const redirectTo = (location: string, status = 307): Answer => ({
  status,
  headers: { location },
  body: "",
  delivery: whole,
});

/** Whether a status allows no body; `Response` throws if it gets one. */
export const isBodiless = (status: unknown): boolean => status === 204 || status === 205 || status === 304;

const bodyOf = (status: number): unknown =>
  isBodiless(status) ? "" : { error: `Planned fault: status ${status}.` };

/** The answer that replaces the service's own, if this fault has one. */
export const answerInstead = (fault: Fault): Answer | undefined => {
  switch (fault) {
    case "reset-before":
    case "reset-after-apply":
      return { status: 0, headers: {}, body: "", delivery: { kind: "reset" } };
    case "stall":
    case "stall-after-apply":
      return { status: 0, headers: {}, body: "", delivery: { kind: "stall" } };
    case "html-502":
    case "html-502-after-apply":
      return htmlPage;
    case "empty-500":
      return { status: 500, headers: {}, body: "", delivery: whole };
    case "redirect":
      return redirectTo("https://elsewhere.example/api/v1/");
  }
  if (typeof fault === "string" || "items" in fault) return undefined;
  if ("redirect" in fault) return redirectTo(fault.redirect, fault.status);
  const { status, retryAfter, headers = {}, body = bodyOf(status) } = fault;
  return {
    status,
    headers: {
      ...json,
      ...(retryAfter === undefined ? {} : { "retry-after": retryAfterText(retryAfter) }),
      ...inLowerCase(headers),
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
    delivery: whole,
  };
};

const unapplied = new Set<Fault>(["reset-before", "stall", "html-502", "empty-500", "redirect"]);

/** Whether the request never reaches the rules. */
export const isUnapplied = (fault: Fault): boolean => {
  if (typeof fault === "string") return unapplied.has(fault);
  if ("items" in fault) return false;
  return "redirect" in fault || fault.applied !== true;
};
