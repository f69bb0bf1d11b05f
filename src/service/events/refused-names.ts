import type * as z from "zod/mini";
import type { FreeFields } from "../free-fields.ts";
import { asWritten } from "../json.ts";

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** Where the first name stands that fits, at any depth of what JSON writes; the value holds no cycle. */
const pathOfName = (
  value: unknown,
  fits: (name: string) => boolean,
  key = "",
): readonly PropertyKey[] | undefined => {
  const written = asWritten(value, key);
  if (typeof written !== "object" || written === null) return undefined;
  const isList = Array.isArray(written);
  for (const [name, item] of Object.entries(written)) {
    // JSON leaves it out.
    if (item === undefined) continue;
    if (!isList && fits(name)) return [name];
    const within = pathOfName(item, fits, name);
    if (within !== undefined) return [isList ? Number(name) : name, ...within];
  }
  return undefined;
};

/** A check that refuses fields of these names, in any case, with any separators and at any depth. */
export const withoutNames = (names: readonly string[]): z.core.CheckFn<FreeFields> => {
  const refused = new Set(names.map(lettersOf));
  return ({ value, issues }) => {
    const path = pathOfName(value, (name) => refused.has(lettersOf(name)));
    if (path === undefined) return;
    const message = `is a secret-like name (such as ${names.join(", ")}): the service refuses it`;
    issues.push({ code: "custom", input: value, path: [...path], message });
  };
};
