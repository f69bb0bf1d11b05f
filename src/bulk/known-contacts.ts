import { foldAscii } from "../runtime/fold-ascii.ts";
import type { Contact } from "../service/contacts.ts";
import { fieldsToChange, shortTexts } from "./contact-fields.ts";
import { Spool } from "./spool.ts";

/** What an import knows about a contact before it sends anything. */
export interface KnownContact {
  readonly id: string;
  /** The fields that the row would change; empty if none. */
  readonly fields: readonly string[];
}

const separator = "\0";

/** The contacts of a workspace by address: about 250 bytes each, so 250 MB for a million. */
export class KnownContacts {
  /** The number of each field's name, from 1. */
  readonly #numbers = new Map<string, number>();
  /** The id as JSON, and the short text of each field by its number: one flat string takes the least memory. */
  readonly #packed = new Map<string, string>();
  readonly #whole: { readonly places: Map<string, number>; readonly spool: Spool } | undefined;

  /** @param keepsWhole - keeps each whole contact too, in a temporary file. */
  constructor({ keepsWhole }: { readonly keepsWhole: boolean }) {
    this.#whole = keepsWhole ? { places: new Map(), spool: new Spool() } : undefined;
  }

  get size(): number {
    return this.#packed.size;
  }

  /** Stores a contact as the service has it now. */
  add(contact: object): void {
    const { id, email }: { id?: unknown; email?: unknown } = contact;
    if (typeof email !== "string") return;
    this.#keep(email, [JSON.stringify(String(id ?? ""))], contact);
    this.#whole?.places.set(foldAscii(email), this.#whole.spool.add(JSON.stringify(contact)));
  }

  /** A whole contact; undefined if whole contacts are not kept. */
  whole(email: string): Contact | undefined {
    const place = this.#whole?.places.get(foldAscii(email));
    return place === undefined ? undefined : JSON.parse(this.#whole?.spool.read(place) ?? "");
  }

  /** Applies a row to its contact in memory; nothing is sent. */
  apply(row: { readonly email: string }): void {
    this.#keep(row.email, this.#find(row.email) ?? ['""'], row);
  }

  /** What a row would change; undefined if no contact has its address. */
  look(row: { readonly email: string }): KnownContact | undefined {
    const known = this.#find(row.email);
    if (known === undefined) return undefined;
    return {
      id: JSON.parse(known[0] ?? ""),
      fields: fieldsToChange(row, (name) => known[this.#numberOf(name)]),
    };
  }

  #find(email: string): string[] | undefined {
    return this.#packed.get(foldAscii(email))?.split(separator);
  }

  #keep(email: string, parts: string[], fields: object): void {
    for (const [name, text] of shortTexts(fields)) parts[this.#numberOf(name)] = text;
    this.#packed.set(foldAscii(email), parts.join(separator));
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#numbers.size + 1);
    return this.#numbers.size;
  }
}
