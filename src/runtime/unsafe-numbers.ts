/** A whole number of JSON that a double cannot carry exactly, and the path of its value. */
export interface UnsafeNumber {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

// At least 16 digits in a row, or an exponent: anything else is below 2^53.
const mayBeUnsafe = /\d{16}|\d[eE]\+?\d/;
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\],:]/g;

const isUnsafe = (text: string): boolean => {
  const value = Number(text);
  return Number.isInteger(value) && !Number.isSafeInteger(value);
};

/**
 * Finds the first whole number above 2^53 in a text that is JSON; undefined if there is none. `JSON.parse` changes such a
 * number without a word. A text without long digits costs one regular expression.
 */
export const findUnsafeNumber = (json: string): UnsafeNumber | undefined => {
  if (!mayBeUnsafe.test(json)) return undefined;
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
