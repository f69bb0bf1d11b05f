/** A number of JSON that a double cannot carry, and the path of its value. */
export interface UnsafeNumber {
  readonly path: readonly PropertyKey[];
  readonly text: string;
}

const longDigits = 16;

// A number of 16 digits or with an exponent of three, which is not in a text: those begin with a quote. With fewer digits
// a whole number is below 2^53, and with a shorter exponent it is finite.
const mayBeUnsafe = /(?:^|[:,[\s])-?(?:\d{16}|\d[\d.]*[eE]\+?\d{3})/;
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[{}[\],:]/g;

const isUnsafe = (text: string): boolean => {
  const value = Number(text);
  // Few digits and an exponent are a number that someone wrote as a double.
  const isLong = text.replace(/[eE].*|\D/g, "").length >= longDigits;
  return !Number.isFinite(value) || (isLong && Number.isInteger(value) && !Number.isSafeInteger(value));
};

/**
 * Finds the first number in a text that is JSON whose digits `JSON.parse` would change without a word: a whole one above
 * 2^53, or one that becomes infinite. Undefined if there is none.
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
