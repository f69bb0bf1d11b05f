import type { Fields } from "../json.ts";
import type { CustomFieldKind } from "../options.ts";
import { invalid, readTime } from "./values.ts";

const assertKind = (name: string, value: unknown, kind: CustomFieldKind): void => {
  const field = `customFields.${name}`;
  if (kind === "date") {
    readTime(value, field);
    return;
  }
  const type = kind === "text" ? "string" : kind;
  if (typeof value !== type) throw invalid(field, `must be a ${kind}`);
};

/**
 * Applies a patch of custom fields: keys sent are set, `null` clears, the others stay.
 *
 * @throws Refusal 400 for a name that is not defined or a value of another kind.
 */
export const mergeCustomFields = (
  current: Fields,
  patch: Fields,
  definitions: Readonly<Record<string, CustomFieldKind>> | undefined,
): Fields => {
  const merged = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(patch)) {
    const kind =
      definitions !== undefined && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    if (definitions !== undefined && kind === undefined) {
      throw invalid(`customFields.${name}`, "is not a field of this workspace");
    }
    if (value === null) merged.delete(name);
    else {
      if (kind !== undefined) assertKind(name, value, kind);
      merged.set(name, value);
    }
  }
  // fromEntries defines own properties, so a key such as __proto__ stays a plain key.
  return Object.fromEntries(merged);
};
