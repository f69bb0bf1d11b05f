import { contentText } from "../runtime/content-hash.ts";
import { hashOf } from "./hash-table.ts";

/** The names of fields, each by a number that is short to store. */
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

/** The order of a contact's lists, as of any set, means nothing. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((item) => contentText(item)).sort() : value;

/** The fields of a contact or of a row, custom fields one by one: `name`, `customFields.plan`. */
const fieldsOf = (contact: object): [name: string, value: unknown][] =>
  Object.entries(contact).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    if (name === "id" || name === "updatedAt" || value === undefined) return [];
    if (name !== "customFields" || !isRecord(value)) return [[name, value]];
    return Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]): [string, unknown] => [`customFields.${key}`, item]);
  });

/** What is kept of a contact: its id, and 8 bytes of each field. */
export interface Digest {
  readonly id: string;
  /** The number of a field's name → the hash of its value, in hex. */
  readonly fields: ReadonlyMap<number, bigint>;
}

const valueHash = (value: unknown): bigint => {
  const [high, low] = hashOf(contentText(sorted(value)));
  return (BigInt(high) << 32n) | BigInt(low);
};

export const digestOf = (contact: object, names: FieldNames): Digest => {
  const { id }: { id?: unknown } = contact;
  const fields = new Map<number, bigint>();
  // A cleared field may be there as null, or missing.
  for (const [name, value] of fieldsOf(contact))
    if (value !== null) fields.set(names.numberOf(name), valueHash(value));
  return { id: String(id ?? ""), fields };
};

/** The fields of a row that a contact has not, or not so; `null` clears one. */
export const fieldsToChange = (row: object, known: Digest, names: FieldNames): string[] =>
  fieldsOf(row)
    .filter(([name, value]) => {
      const before = known.fields.get(names.numberOf(name));
      return value === null ? before !== undefined : before !== valueHash(value);
    })
    .map(([name]) => name);

/** As bytes: the length of all, the id, and 10 bytes a field. */
export const packDigest = ({ id, fields }: Digest): Buffer => {
  const idBytes = Buffer.from(id, "utf8");
  const bytes = Buffer.allocUnsafe(6 + idBytes.length + 10 * fields.size);
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.writeUInt16LE(idBytes.length, 4);
  idBytes.copy(bytes, 6);
  let at = 6 + idBytes.length;
  for (const [number, hash] of fields) {
    bytes.writeUInt16LE(number, at);
    bytes.writeBigUInt64LE(hash, at + 2);
    at += 10;
  }
  return bytes;
};

export const unpackDigest = (bytes: Buffer): Digest => {
  const idEnd = 6 + bytes.readUInt16LE(4);
  const fields = new Map<number, bigint>();
  for (let at = idEnd; at + 10 <= bytes.length; at += 10)
    fields.set(bytes.readUInt16LE(at), bytes.readBigUInt64LE(at + 2));
  return { id: bytes.toString("utf8", 6, idEnd), fields };
};
