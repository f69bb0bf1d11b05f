import { Refusal } from "../answer.ts";
import { type Fields, has } from "../json.ts";

const address = /^[^\s@<>,;"]+@[^\s@<>,;"]+\.[^\s@<>,;".]+$/;

/** The refusal of a field; the message names the field and the reason. */
export const invalid = (field: string, why: string): Refusal => new Refusal(400, `${field} ${why}.`);

/** An email address, as written. @throws Refusal 400 */
export const readAddress = (value: unknown, field: string): string => {
  if (value === undefined || value === null || value === "") throw invalid(field, "is missing");
  if (typeof value !== "string" || value.length > 320 || !address.test(value)) {
    throw invalid(field, "is not a valid email address");
  }
  return value;
};

/** A string that is not blank. @throws Refusal 400 */
export const readText = (value: unknown, field: string): string => {
  if (value === undefined || value === null || value === "") throw invalid(field, "is missing");
  if (typeof value !== "string" || value.trim() === "")
    throw invalid(field, "must be a string that is not blank");
  return value;
};

/** A string that is not blank, or undefined if the field is missing. @throws Refusal 400 */
export const readOptionalText = (fields: Fields, name: string): string | undefined =>
  has(fields, name) ? readText(fields[name], name) : undefined;

/** A boolean, or undefined if the field is missing. @throws Refusal 400 */
export const readOptionalFlag = (fields: Fields, name: string): boolean | undefined => {
  if (!has(fields, name)) return undefined;
  const value = fields[name];
  if (typeof value !== "boolean") throw invalid(name, "must be true or false");
  return value;
};

const isoTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i;
const zoneAtEnd = /(Z|[+-]\d\d:?\d\d)$/i;

/** An ISO 8601 time with a time zone, in milliseconds. @throws Refusal 400 */
export const readTime = (value: unknown, field: string): number => {
  if (typeof value !== "string" || !isoTime.test(value)) throw invalid(field, "must be an ISO 8601 time");
  if (!zoneAtEnd.test(value.slice(10))) throw invalid(field, "must have a time zone");
  const time = Date.parse(value);
  const [year, month, date] = value.slice(0, 10).split("-").map(Number);
  // Date.parse takes 31 February for 3 March.
  if (Number.isNaN(time) || Number(date) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate())
    throw invalid(field, "is not a time that exists");
  return time;
};

const day = /^\d{4}-\d\d-\d\d$/;

/** Checks a day, such as `2026-01-01`, or a time with a time zone. @throws Refusal 400 */
export const readDate = (value: unknown, field: string): number =>
  readTime(typeof value === "string" && day.test(value) ? `${value}T00:00Z` : value, field);
