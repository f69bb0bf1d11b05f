import { hasLongDigits } from "./values.ts";

/** A whole number of JSON that a double cannot carry, and the path of its value. */
export interface UnsafeNumber {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

const longDigits = 16;

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\],:]/g;

const isUnsafe = (text: string): boolean => {
  const value = Number(text);
  // Few digits and an exponent are a number that someone wrote as a double.
  const isLong = text.replace(/[eE].*|\D/g, "").length >= longDigits;
  return isLong && Number.isInteger(value) && !Number.isSafeInteger(value);
};

/**
 * Finds the first whole number above 2^53 in a text that is JSON; undefined if there is none. `JSON.parse` changes the
 * digits of such a number without a word. The check of inputs refuses one that becomes infinite.
 */
export const findUnsafeNumber = (json: string): UnsafeNumber | undefined => {
  if (!hasLongDigits(json)) return undefined;
  const path: PropertyKey[] = [];
  const isList: boolean[] = [];
  for (const [text] of json.matchAll(token)) {
    const first = text[0];
    if (first === "{" || first === "[") {
      isList.push(first === "[");
      path.push(first === "[" ? 0 : "");
    } else if (first === "}" || first === "]") {
      isList.pop();
      path.pop();
    } else if (first === ",") {
      const last = path.length - 1;
      path[last] = isList.at(-1) ? Number(path[last]) + 1 : "";
    } else if (first === '"') {
      // A name comes before a colon; a text that is a value leaves the name of its field.
      const last = path.length - 1;
      if (last >= 0 && isList.at(-1) === false && path[last] === "") path[last] = JSON.parse(text);
    } else if (first !== ":" && isUnsafe(text)) return { path, text };
  }
  return undefined;
};

/** What is wrong with it, and where: `properties.order: 1234567890123456781 is larger than a JSON number can carry`. */
export const unsafeIssue = ({
  path,
  text,
}: UnsafeNumber): { readonly path: string; readonly message: string } => ({
  path: path
    .map((key, at) => (typeof key === "number" ? `[${key}]` : `${at > 0 ? "." : ""}${String(key)}`))
    .join(""),
  message: `${text} is larger than a JSON number can carry`,
});
