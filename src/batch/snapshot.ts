import { isDate } from "../runtime/cross-realm.ts";
import { deepestNesting, isPlain } from "../service/json.ts";

const asField = { enumerable: true, configurable: true, writable: true };

// What is nested deeper than any input may be is refused, and need not be copied; these hold a list of such inputs.
const deepest = deepestNesting + 2;

/** `around` holds the copies of the objects that this one lies in: one that holds itself has a copy that does. */
const copyOf = (given: unknown, around: Map<object, object>): unknown => {
  if (typeof given !== "object" || given === null || around.size > deepest) return given;
  const isList = Array.isArray(given);
  if (!isList && !isPlain(given)) return isDate(given) ? new Date(given.getTime()) : given;
  // JSON takes what this says.
  if ("toJSON" in given) return given;
  const known = around.get(given);
  if (known !== undefined) return known;
  if (isList) {
    const items: unknown[] = [];
    around.set(given, items);
    for (const item of given) items.push(copyOf(item, around));
    around.delete(given);
    return items;
  }
  const fields: Record<string, unknown> = {};
  around.set(given, fields);
  for (const [key, value] of Object.entries(given)) {
    const copied = typeof value === "object" ? copyOf(value, around) : value;
    // Set the usual way, this one would become the prototype.
    if (key === "__proto__") Object.defineProperty(fields, key, { ...asField, value: copied });
    else fields[key] = copied;
  }
  around.delete(given);
  return fields;
};

/**
 * A value as it is now: its owner may use the object for the next one before it is sent, or sent again. Objects,
 * arrays and Dates are copied, as deep as an input may be nested; an instance of a class of one's own is not, as its fields may be private.
 */
// A copy has every field of what it was made of.
export const snapshot = <T>(given: T): T => copyOf(given, new Map()) as T;
