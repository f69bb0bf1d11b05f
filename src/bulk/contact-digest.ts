import { contentText } from "../runtime/content-hash.ts";
import { hashOf } from "./hash-table.ts";

/** The names of fields, each with a short number for storage. */
export class FieldNames {
  readonly list: string[];
  readonly #numbers: Map<string, number>;

  constructor(names: readonly string[] = []) {
    this.list = [...names];
    this.#numbers = new Map(this.list.map((name, at) => [name, at]));
  }

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.list.push(name);
    this.#numbers.set(name, this.list.length - 1);
    return this.list.length - 1;
  }
}

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The order of a contact's lists has no meaning. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((item) => contentText(item)).sort() : value;

/** The fields of a contact or a row, with each custom field: `name`, `customFields.plan`. */
const fieldsOf = (contact: object): [name: string, value: unknown][] =>
  Object.entries(contact).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    if (name === "id" || value === undefined) return [];
    if (name !== "customFields" || !isRecord(value)) return [[name, value]];
    return Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]): [string, unknown] => [`customFields.${key}`, item]);
  });

/** What is stored of a contact: its id, and 8 bytes per field. */
export interface Digest {
  readonly id: string;
  /** The number of a field's name → the hash of its value. */
  readonly fields: ReadonlyMap<number, bigint>;
}

const valueHash = (value: unknown): bigint => {
  const [high, low] = hashOf(contentText(sorted(value)));
  return (BigInt(high) << 32n) | BigInt(low);
};

export const digestOf = (contact: object, names: FieldNames): Digest => {
  const { id }: { id?: unknown } = contact;
  const fields = new Map<number, bigint>();
  // A cleared field may be null or missing.
  for (const [name, value] of fieldsOf(contact))
    if (value !== null) fields.set(names.numberOf(name), valueHash(value));
  return { id: String(id ?? ""), fields };
};

/** The fields of a row that differ from the contact; `null` clears one. The service sets `updatedAt` itself. */
export const fieldsToChange = (row: object, known: Digest, names: FieldNames): string[] =>
  fieldsOf(row)
    .filter(([name, value]) => {
      if (name === "updatedAt") return false;
      const before = known.fields.get(names.numberOf(name));
      return value === null ? before !== undefined : before !== valueHash(value);
    })
    .map(([name]) => name);

/** The fields in which two contacts differ, in alphabetical order. */
export const fieldsChanged = (before: Digest, now: Digest, names: FieldNames): string[] =>
  names.list.filter((_, number) => before.fields.get(number) !== now.fields.get(number)).sort();

/** As bytes: the total length, the id, a bit for each possible field, and 8 bytes for each present field. */
export const packDigest = ({ id, fields }: Digest): Buffer => {
  const idLength = Buffer.byteLength(id);
  const numbers = [...fields.keys()].sort((a, b) => a - b);
  const bitsLength = Math.ceil(((numbers.at(-1) ?? -1) + 1) / 8);
  const bytes = Buffer.alloc(8 + idLength + bitsLength + 8 * numbers.length);
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.writeUInt16LE(idLength, 4);
  bytes.writeUInt16LE(bitsLength, 6);
  bytes.write(id, 8);
  const bitsAt = 8 + idLength;
  let at = bitsAt + bitsLength;
  for (const number of numbers) {
    const bit = bitsAt + (number >> 3);
    bytes.writeUInt8(bytes.readUInt8(bit) | (1 << (number & 7)), bit);
    at = bytes.writeBigUInt64LE(fields.get(number) ?? 0n, at);
  }
  return bytes;
};

/** The id of a packed digest. */
export const packedId = (bytes: Buffer): string => bytes.toString("utf8", 8, 8 + bytes.readUInt16LE(4));

export const unpackDigest = (bytes: Buffer): Digest => {
  const bitsAt = 8 + bytes.readUInt16LE(4);
  const bitsLength = bytes.readUInt16LE(6);
  const fields = new Map<number, bigint>();
  let at = bitsAt + bitsLength;
  for (let number = 0; number < 8 * bitsLength; number += 1) {
    if ((bytes.readUInt8(bitsAt + (number >> 3)) & (1 << (number & 7))) === 0) continue;
    fields.set(number, bytes.readBigUInt64LE(at));
    at += 8;
  }
  return { id: packedId(bytes), fields };
};
