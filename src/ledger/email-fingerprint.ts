import { contentHash } from "../runtime/content-hash.ts";
import { jsonCopy } from "../runtime/values.ts";

// Enough to name the fields that differ; whether two emails are the same decides the hash of the whole.
const charactersOfField = 8;

/** Identifies an email by its hash, and each of its fields by a short one. */
export const emailFingerprint = (email: object): string => {
  // As it is sent.
  const copy = Object(jsonCopy(email));
  const fields = Object.entries(copy).map(([name, value]) => [
    name,
    contentHash(value).slice(0, charactersOfField),
  ]);
  return JSON.stringify([contentHash(copy), Object.fromEntries(fields)]);
};

/** The hash of the whole email, and the fields. A ledger of one's own may return anything. */
const partsOf = (
  fingerprint: string,
): { readonly whole: unknown; readonly fields: Record<string, unknown> } => {
  try {
    const [whole, fields] = JSON.parse(fingerprint);
    return { whole, fields: Object(fields) };
  } catch {
    return { whole: fingerprint, fields: {} };
  }
};

/** The names of the fields in which two emails differ; undefined if they are the same. */
export const differingFields = (before: string, now: string): string[] | undefined => {
  const [a, b] = [partsOf(before), partsOf(now)];
  if (a.whole === b.whole) return undefined;
  const names = new Set([...Object.keys(a.fields), ...Object.keys(b.fields)]);
  return [...names].filter((name) => a.fields[name] !== b.fields[name]);
};
