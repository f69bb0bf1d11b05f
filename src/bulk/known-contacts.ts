import { foldAscii } from "../runtime/fold-ascii.ts";
import type { Contact } from "../service/contacts.ts";
import { fieldsToChange, shortTexts, TextStore } from "./contact-fields.ts";
import { Spool } from "./spool.ts";

/** What an import knows about a contact before it sends anything. */
export interface KnownContact {
  readonly id: string;
  /** The fields that the row would change; empty if none. */
  readonly fields: readonly string[];
}

/** The field with the place of the whole contact; no contact has a field of this name. */
const whole = "#whole";

/** The contacts of a workspace by address: about 250 bytes each, so 250 MB for a million. */
export class KnownContacts {
  /** The id as JSON, and the short text of each field. */
  readonly #texts = new TextStore();
  readonly #spool: Spool | undefined;

  /** @param keepsWhole - keeps each whole contact too, in a temporary file. */
  constructor({ keepsWhole }: { readonly keepsWhole: boolean }) {
    this.#spool = keepsWhole ? new Spool() : undefined;
  }

  get size(): number {
    return this.#texts.size;
  }

  /** Stores a contact as the service has it now. */
  add(contact: object): void {
    const { id, email }: { id?: unknown; email?: unknown } = contact;
    if (typeof email !== "string") return;
    const place = this.#spool?.add(JSON.stringify(contact));
    const texts = { id: JSON.stringify(String(id ?? "")), ...shortTexts(contact) };
    this.#texts.set(foldAscii(email), place === undefined ? texts : { ...texts, [whole]: String(place) });
  }

  /** A whole contact; undefined if whole contacts are not kept. */
  whole(email: string): Contact | undefined {
    const place = this.#texts.get(foldAscii(email))?.[whole];
    return place && JSON.parse(this.#spool?.read(Number(place)) ?? "");
  }

  /** Applies a row to its contact in memory; nothing is sent. */
  apply(row: { readonly email: string }): void {
    const key = foldAscii(row.email);
    this.#texts.set(key, { id: '""', ...this.#texts.get(key), ...shortTexts(row) });
  }

  /** What a row would change; undefined if no contact has its address. */
  look(row: { readonly email: string }): KnownContact | undefined {
    const known = this.#texts.get(foldAscii(row.email));
    return known && { id: JSON.parse(known.id ?? '""'), fields: fieldsToChange(row, known) };
  }
}
