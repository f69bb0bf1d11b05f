import type { WriteColumns } from "./csv-columns.ts";
import type { WriteOptions } from "./write-options.ts";

/** How to write CSV. */
export interface WriteCsvOptions extends WriteOptions {
  /** The character between cells; default a comma. */
  readonly delimiter?: string | undefined;
  /**
   * The columns in their order, as paths (`["email", "customFields.plan"]`) or paths and names
   * (`{ email: "E-mail" }`). Other fields are left out; a column that no record has is empty. Default: every field
   * there is, for which all records but the first 1,000 are written twice, to `<path>.<8 characters>.rows.tmp` and
   * from there to the file. On a stream, and with `append`, it is the fields of the first 1,000 (or the header of
   * the file): a later record with yet another field is then an error, not a loss.
   */
  readonly columns?: WriteColumns | undefined;
  /**
   * Whether text that a spreadsheet may run as a formula gets an apostrophe before it; default true. `readCsv` takes
   * it away again. Numbers stay as they are; a phone number such as `+44 20 7946 0000` is text and gets one: set it
   * to false for programs that would take the apostrophe for part of it.
   */
  readonly escapeFormulas?: boolean | undefined;
  /** Whether to begin with a byte order mark, by which Excel knows UTF-8; default false. */
  readonly byteOrderMark?: boolean | undefined;
}
