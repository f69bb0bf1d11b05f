import type { Schema } from "../index.ts";

/** A record or page of an answer. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What a value is, and never the value: answers hold personal data. */
export const kindOf = (value: unknown): string => {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
};

const timeFields = ["createdAt", "updatedAt", "sendAt"];
const utc = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]00:?00)$/;

const timeFaults = (record: Fields): string[] =>
  timeFields
    .filter((name) => typeof record[name] === "string" && !utc.test(record[name]))
    .map((name) => `${name} is no ISO 8601 time in UTC`);

const valueAt = (record: Fields, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (value === undefined || value === null ? value : Object(value)[key]),
    record,
  );

const faultsOf = (record: Fields, schema: Schema): string[] => {
  const result = schema.safeParse(record);
  if (result.success) return timeFaults(record);
  const misfits = result.error.issues.map((issue) => {
    const name = issue.path.filter((key) => typeof key !== "number").join(".");
    const wanted = "expected" in issue ? `must be ${issue.expected}` : issue.message;
    return `${name} ${wanted}, is ${kindOf(valueAt(record, issue.path))}`;
  });
  return [...misfits, ...timeFaults(record)];
};

/** What of the records does not fit the documented type, each kind of misfit once. */
export const recordFaults = (records: readonly unknown[], schema: Schema): string[] => {
  const counts = new Map<string, number>();
  for (const record of records) {
    const faults = isFields(record)
      ? faultsOf(record, schema)
      : [`a record must be object, is ${kindOf(record)}`];
    for (const fault of new Set(faults)) counts.set(fault, (counts.get(fault) ?? 0) + 1);
  }
  return [...counts].map(([fault, count]) => `${fault} (${count} of ${records.length} records)`);
};

/** The names of fields that the document does not have, over all records. */
export const unknownFields = (records: readonly unknown[], known: readonly string[]): string[] => {
  const names = new Set(records.filter(isFields).flatMap((record) => Object.keys(record)));
  return [...names].filter((name) => !known.includes(name)).sort();
};
