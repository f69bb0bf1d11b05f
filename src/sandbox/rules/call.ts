import { isRecord } from "../../runtime/values.ts";
import { Refusal } from "../answer.ts";
import { type Fields, has } from "../json.ts";
import type { ApiKey } from "../keys.ts";
import type { Workspace } from "../store/workspace.ts";

/** An authenticated request as the rules see it. */
export interface Call {
  readonly workspace: Workspace;
  readonly key: ApiKey;
  /** The `:id` of the path; empty if there is none. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** The batch items that fail because of a planned fault. The rule does not process them. */
  readonly failing: { readonly items: readonly number[]; readonly status?: number } | undefined;
}

/** The body as an object. @throws Refusal 400 for anything else. */
export const bodyFields = ({ body }: Pick<Call, "body">): Fields => {
  if (!isRecord(body)) throw new Refusal(400, "The body must be a JSON object.");
  return body;
};

/** The refusal for a record that this workspace does not have. */
export const notFound = (what: string): Refusal =>
  new Refusal(404, `No ${what} with that id in this workspace.`);

/** The refusal of a field; the message names the field and the reason. */
export const invalid = (field: string, why: string): Refusal => new Refusal(400, `${field} ${why}.`);

/** Reads a value. @throws Refusal 400 that names the field. */
export type Reader<T> = (value: unknown, field: string) => T;

/** Creates a reader from a type guard. @param why - the end of the message, for instance `must be a string`. */
export const readerOf =
  <T>(fits: (value: unknown) => value is T, why: string): Reader<T> =>
  (value, field) => {
    if (fits(value)) return value;
    throw invalid(field, why);
  };

/**
 * Reads the fields that are present, in the order of the readers.
 *
 * @param within - the prefix of a field in messages, for instance `contact.`.
 * @throws Refusal 400
 */
export const readFields = <T extends object>(
  fields: Fields,
  readers: { readonly [Name in keyof T]: Reader<T[Name]> },
  within = "",
): Partial<T> => {
  const values: Partial<T> = {};
  for (const name in readers)
    if (has(fields, name)) values[name] = readers[name](fields[name], within + name);
  return values;
};

const address = /^[^\s@<>,;"]+@[^\s@<>,;"]+\.[^\s@<>,;".]+$/;

/** An email address, as written. */
export const readAddress: Reader<string> = (value, field) => {
  if (value === undefined || value === null || value === "") throw invalid(field, "is missing");
  if (typeof value !== "string" || value.length > 320 || !address.test(value)) {
    throw invalid(field, "is not a valid email address");
  }
  return value;
};

/** A string that is not blank. */
export const readText: Reader<string> = (value, field) => {
  if (value === undefined || value === null || value === "") throw invalid(field, "is missing");
  if (typeof value !== "string" || value.trim() === "")
    throw invalid(field, "must be a string that is not blank");
  return value;
};

export const readFlag = readerOf((value) => typeof value === "boolean", "must be true or false");

export const readObject = readerOf(isRecord, "must be an object");

const isoTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i;
const zoneAtEnd = /(Z|[+-]\d\d:?\d\d)$/i;

/** An ISO 8601 time with a time zone, in milliseconds. */
export const readTime: Reader<number> = (value, field) => {
  if (typeof value !== "string" || !isoTime.test(value)) throw invalid(field, "must be an ISO 8601 time");
  if (!zoneAtEnd.test(value.slice(10))) throw invalid(field, "must have a time zone");
  const time = Date.parse(value);
  const [year, month, date] = value.slice(0, 10).split("-").map(Number);
  // Date.parse reads 31 February as 3 March.
  if (Number.isNaN(time) || Number(date) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate())
    throw invalid(field, "is not a time that exists");
  return time;
};

const readWhole = (query: URLSearchParams, name: string, fallback: number): number => {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^\d{1,15}$/.test(text)) throw invalid(name, "must be a whole number");
  return Number(text);
};

/** Reads `skip` (default 0) and `limit` (1 to 200, default 50). @throws Refusal 400 */
export const readPaging = (query: URLSearchParams): { readonly skip: number; readonly limit: number } => {
  const skip = readWhole(query, "skip", 0);
  const limit = readWhole(query, "limit", 50);
  if (limit < 1 || limit > 200) throw invalid("limit", "must be from 1 to 200");
  return { skip, limit };
};
