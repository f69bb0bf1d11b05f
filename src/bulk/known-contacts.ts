import type { Contact } from "../service/contacts.ts";
import {
  type Digest,
  digestOf,
  FieldNames,
  fieldsToChange,
  packDigest,
  unpackDigest,
  withFields,
} from "./contact-digest.ts";
import { HashTable } from "./hash-table.ts";
import { Spool } from "./spool.ts";

/** About a million contacts; more go to a temporary file. */
const mostInMemory = 160 * 1024 * 1024;
const mostWholeInMemory = 4 * 1024 * 1024;

/** What an import knows about a contact before it sends anything. */
export interface KnownContact {
  readonly id: string;
  /** The fields that the row would change; empty if none. */
  readonly fields: readonly string[];
}

/** The contacts of a workspace by address, in about 150 bytes each. */
export class KnownContacts {
  readonly #names = new FieldNames();
  readonly #places = new HashTable();
  readonly #spool: Spool;
  readonly #whole: { readonly places: HashTable; readonly spool: Spool } | undefined;

  /** @param keepsWhole - keeps each whole contact too, in a temporary file. */
  constructor({ keepsWhole, most = mostInMemory }: { readonly keepsWhole: boolean; readonly most?: number }) {
    this.#spool = new Spool(most);
    this.#whole = keepsWhole ? { places: new HashTable(), spool: new Spool(mostWholeInMemory) } : undefined;
  }

  get size(): number {
    return this.#places.size;
  }

  /** Stores a contact as the service has it now. */
  add(contact: object): void {
    const { email }: { email?: unknown } = contact;
    if (typeof email !== "string") return;
    this.#keep(email, digestOf(contact, this.#names));
    if (this.#whole === undefined) return;
    const text = Buffer.from(JSON.stringify(contact), "utf8");
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length, 0);
    this.#whole.places.set(email.toLowerCase(), this.#whole.spool.add(Buffer.concat([length, text])));
  }

  /** A whole contact; undefined if whole contacts are not kept. */
  whole(email: string): Contact | undefined {
    const at = this.#whole?.places.get(email.toLowerCase());
    if (this.#whole === undefined || at === undefined) return undefined;
    const { spool } = this.#whole;
    return JSON.parse(spool.read(at + 4, spool.read(at, 4).readUInt32LE(0)).toString("utf8"));
  }

  /** Applies a row to its contact in memory; nothing is sent. */
  apply(row: { readonly email: string }): void {
    const change = digestOf(row, this.#names);
    this.#keep(row.email, withFields(this.#find(row.email) ?? { id: "", fields: [] }, change));
  }

  /** What a row would change; undefined if no contact has its address. */
  look(row: { readonly email: string }): KnownContact | undefined {
    const known = this.#find(row.email);
    if (known === undefined) return undefined;
    const { email: _same, ...fields } = row;
    return { id: known.id, fields: fieldsToChange(fields, known, this.#names) };
  }

  #find(email: string): Digest | undefined {
    const at = this.#places.get(email.toLowerCase());
    if (at === undefined) return undefined;
    return unpackDigest(this.#spool.read(at, this.#spool.read(at, 4).readUInt32LE(0)));
  }

  #keep(email: string, digest: Digest): void {
    this.#places.set(email.toLowerCase(), this.#spool.add(packDigest(digest)));
  }
}
