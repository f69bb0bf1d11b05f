import { contentText } from "../runtime/content-hash.ts";
import { isRecord } from "../runtime/values.ts";
import { type Hash64, hashOf } from "./hash-table.ts";

/** The names of fields, each with a short number for storage. */
export class FieldNames {
  readonly list: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.list.push(name);
    this.#numbers.set(name, this.list.length - 1);
    return this.list.length - 1;
  }
}

/** The fields of a contact or a row, with each custom field: `name`, `customFields.plan`. */
const fieldsOf = (contact: object): [name: string, value: unknown][] => {
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(contact)) {
    if (name === "id" || value === undefined) continue;
    if (name !== "customFields" || !isRecord(value)) fields.push([name, value]);
    else
      for (const [key, item] of Object.entries(value))
        if (item !== undefined) fields.push([`customFields.${key}`, item]);
  }
  return fields;
};

/** What is stored of a contact: its id, and 8 bytes per field. */
export interface Digest {
  readonly id: string;
  /** The hash of a field's value, by the number of its name. */
  readonly fields: readonly (Hash64 | undefined)[];
}

/** A value as text. The order of a contact's lists has no meaning. */
const textOf = (value: unknown): string => {
  // A quote tells the text "3" from the number.
  if (typeof value === "string") return `"${value}`;
  if (Array.isArray(value)) return `[${value.map((item) => contentText(item)).sort()}`;
  return typeof value === "object" ? contentText(value) : String(value);
};

const valueHash = (value: unknown): Hash64 => hashOf(textOf(value));

const isSame = (a: Hash64 | undefined, b: Hash64 | undefined): boolean =>
  a?.[0] === b?.[0] && a?.[1] === b?.[1];

export const digestOf = (contact: object, names: FieldNames): Digest => {
  const { id }: { id?: unknown } = contact;
  const fields: (Hash64 | undefined)[] = [];
  // A cleared field may be null or missing.
  for (const [name, value] of fieldsOf(contact))
    if (value !== null) fields[names.numberOf(name)] = valueHash(value);
  return { id: String(id ?? ""), fields };
};

/** The contact after the fields of a row are set. */
export const withFields = ({ id, fields }: Digest, row: Digest): Digest => ({
  id,
  fields: Array.from(
    { length: Math.max(fields.length, row.fields.length) },
    (_, number) => row.fields[number] ?? fields[number],
  ),
});

/** The fields of a row that differ from the contact; `null` clears one. The service sets `updatedAt` itself. */
export const fieldsToChange = (row: object, known: Digest, names: FieldNames): string[] =>
  fieldsOf(row)
    .filter(([name, value]) => {
      if (name === "updatedAt") return false;
      const before = known.fields[names.numberOf(name)];
      return value === null ? before !== undefined : !isSame(before, valueHash(value));
    })
    .map(([name]) => name);

/** The fields in which two contacts differ, in alphabetical order. */
export const fieldsChanged = (before: Digest, now: Digest, names: FieldNames): string[] =>
  names.list.filter((_, number) => !isSame(before.fields[number], now.fields[number])).sort();

/** As bytes: the total length, the id, a bit for each possible field, and 8 bytes for each present field. */
export const packDigest = ({ id, fields }: Digest): Buffer => {
  const idLength = Buffer.byteLength(id);
  const bitsLength = Math.ceil(fields.length / 8);
  const bytes = Buffer.alloc(8 + idLength + bitsLength + 8 * fields.length);
  bytes.writeUInt16LE(idLength, 4);
  bytes.writeUInt16LE(bitsLength, 6);
  bytes.write(id, 8);
  const bitsAt = 8 + idLength;
  let at = bitsAt + bitsLength;
  for (const [number, hash] of fields.entries()) {
    if (hash === undefined) continue;
    const bit = bitsAt + (number >> 3);
    bytes.writeUInt8(bytes.readUInt8(bit) | (1 << (number & 7)), bit);
    bytes.writeUInt32LE(hash[0], at);
    bytes.writeUInt32LE(hash[1], at + 4);
    at += 8;
  }
  bytes.writeUInt32LE(at, 0);
  return bytes.subarray(0, at);
};

/** The id of a packed digest. */
export const packedId = (bytes: Buffer): string => bytes.toString("utf8", 8, 8 + bytes.readUInt16LE(4));

export const unpackDigest = (bytes: Buffer): Digest => {
  const bitsAt = 8 + bytes.readUInt16LE(4);
  const bitsLength = bytes.readUInt16LE(6);
  const fields: (Hash64 | undefined)[] = [];
  let at = bitsAt + bitsLength;
  for (let number = 0; number < 8 * bitsLength; number += 1) {
    if ((bytes.readUInt8(bitsAt + (number >> 3)) & (1 << (number & 7))) === 0) continue;
    fields[number] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    at += 8;
  }
  return { id: packedId(bytes), fields };
};
