import { isRecord } from "../runtime/values.ts";

const sameItems = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item) => b.includes(item));

const sameValue = (wanted: unknown, known: unknown): boolean => {
  if (wanted === known) return true;
  // `null` clears a field, and a cleared field may be missing from the response.
  if (wanted === null) return known === undefined;
  if (Array.isArray(wanted)) return Array.isArray(known) && sameItems(wanted, known);
  return isRecord(wanted) && isRecord(known) && hasSameFields(wanted, known);
};

/** Whether writing `wanted` over `known` would change nothing, because each given field has that value already. */
export const hasSameFields = (wanted: object, known: object): boolean =>
  Object.entries(wanted).every(
    ([name, value]) => value === undefined || sameValue(value, Reflect.get(known, name)),
  );
