import { isDate } from "../runtime/cross-realm.ts";
import { isPlain } from "../service/json.ts";

/** An object that is being copied, and those around it: one that holds itself has a copy that does. */
interface Around {
  readonly given: object;
  readonly copy: object;
  readonly outer: Around | undefined;
}

const asField = { enumerable: true, configurable: true, writable: true };

const copyOf = (given: unknown, outer: Around | undefined): unknown => {
  if (typeof given !== "object" || given === null) return given;
  const isList = Array.isArray(given);
  if (!isList && !isPlain(given)) return isDate(given) ? new Date(given.getTime()) : given;
  // JSON takes what this says.
  if ("toJSON" in given) return given;
  for (let at = outer; at !== undefined; at = at.outer) if (at.given === given) return at.copy;
  if (isList) {
    const items: unknown[] = [];
    const around = { given, copy: items, outer };
    for (const item of given) items.push(copyOf(item, around));
    return items;
  }
  const fields: Record<string, unknown> = {};
  const around = { given, copy: fields, outer };
  for (const [key, value] of Object.entries(given)) {
    const copied = typeof value === "object" ? copyOf(value, around) : value;
    // Set the usual way, this one would become the prototype.
    if (key === "__proto__") Object.defineProperty(fields, key, { ...asField, value: copied });
    else fields[key] = copied;
  }
  return fields;
};

/**
 * A value as it is now: its owner may use the object for the next one before it is sent, or sent again. Objects,
 * arrays and Dates are copied, however deep; an instance of a class of one's own is not, as its fields may be private.
 */
// A copy has every field of what it was made of.
export const snapshot = <T>(given: T): T => copyOf(given, undefined) as T;
