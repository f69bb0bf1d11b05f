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

/** Whether a time names its zone. */
export const hasZone = (value: string): boolean => zoneAtEnd.test(value.slice(10));

/** An ISO 8601 time in milliseconds; a time without a zone counts as UTC. @throws Refusal 400 */
export const readTime = (value: unknown, field: string): number => {
  if (typeof value !== "string" || !isoTime.test(value)) throw invalid(field, "must be an ISO 8601 time");
  const time = Date.parse(hasZone(value) ? value : `${value}Z`);
  if (Number.isNaN(time)) throw invalid(field, "is not a time that exists");
  return time;
};
