import { contentText, textHash } from "../runtime/content-hash.ts";
import { isRecord } from "../runtime/values.ts";

/** A text for each field that has a value, keyed by the field's name. */
export type Texts = Readonly<Record<string, string>>;

/** The fields of a contact or a row, with each custom field as a separate field: `name`, `customFields.plan`. */
const fieldsOf = (contact: object): [name: string, value: unknown][] =>
  Object.entries(contact).flatMap(([name, value]): [string, unknown][] => {
    if (name === "id" || value === undefined) return [];
    if (name !== "customFields" || !isRecord(value)) return [[name, value]];
    return Object.entries(value).flatMap(([key, item]) =>
      item === undefined ? [] : [[`customFields.${key}`, item]],
    );
  });

/**
 * A field's value as text. Two values count as unchanged if they have the same text. The order of a list matters,
 * except for `listIds`, which is a set. A Date equals its ISO string. The text of null is empty, so that null equals a
 * missing field.
 */
const textOf = (name: string, value: unknown): string => {
  if (value === null) return "";
  return contentText(name === "listIds" && Array.isArray(value) ? [...new Set(value)].sort() : value);
};

/** A hash for each field that has a value. */
export const fieldHashes = (contact: object): Texts =>
  Object.fromEntries(
    fieldsOf(contact)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, textHash(textOf(name, value))]),
  );

const isShort = /^[ -~]{0,22}$/;

/** A field's value in at most 23 characters of ASCII: its text, or a hash of it. */
const shortText = (name: string, value: unknown): string => {
  const text = textOf(name, value);
  // No JSON text begins with #, so a hash never equals a text.
  return isShort.test(text) ? text : `#${textHash(text)}`;
};

// A row and its contact have the same address. The service sets the times itself.
const notCompared = ["email", "createdAt", "updatedAt"];

/** The fields of a row or a contact that an import compares, as short texts. The text of null is empty. */
export const shortTexts = (contact: object): Texts =>
  Object.fromEntries(
    fieldsOf(contact)
      .filter(([name]) => !notCompared.includes(name))
      .map(([name, value]) => [name, shortText(name, value)]),
  );

/** The fields that a row would change in a contact with these short texts. */
export const fieldsToChange = (row: object, previous: Texts): string[] =>
  Object.entries(shortTexts(row))
    .filter(([name, text]) => text !== (previous[name] ?? ""))
    .map(([name]) => name);

/** Whether writing a row over a contact would change nothing. */
export const hasSameFields = (row: object, contact: object): boolean =>
  fieldsToChange(row, shortTexts(contact)).length === 0;

const separator = "\0";

/** Packs the texts of each contact into one flat string, which takes the least memory. */
export class TextPacker {
  /** The index of a field's text in the packed string, keyed by field name. */
  readonly #indexes = new Map<string, number>();

  pack(texts: Texts): string {
    const parts: string[] = [];
    for (const [name, text] of Object.entries(texts)) {
      const index = this.#indexes.get(name) ?? this.#indexes.size;
      this.#indexes.set(name, index);
      parts[index] = text;
    }
    return parts.join(separator);
  }

  unpack(packed: string): Texts {
    const parts = packed.split(separator);
    return Object.fromEntries(
      [...this.#indexes].flatMap(([name, index]) => (parts[index] ? [[name, parts[index]]] : [])),
    );
  }
}
