import type { Answer } from "../answer.ts";
import { isArray, isFields } from "../json.ts";
import type { Fault } from "./fault.ts";

const hugeBytes = 200 * 1024 * 1024;
const deepLevels = 100_000;

/** Goes into pages and batch answers, so that the records in them are distorted and not the envelope alone. */
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

/** Spoils the answer of an applied request as the fault says. */
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
