import { type WriteOptions, type Written, writeCsv, writeNdjson } from "../files/index.ts";
import type { Contact } from "../index.ts";
import type { ExportSettings } from "./export-settings.ts";

/** Writes contacts in the format that the export's file has. */
export const writeContacts = (
  path: string,
  contacts: AsyncIterable<Contact>,
  { file, columns, append, onWritten }: WriteOptions & Pick<ExportSettings, "file" | "columns">,
): Promise<Written> =>
  file.format === "csv"
    ? writeCsv(path, contacts, { append, onWritten, columns })
    : writeNdjson(path, contacts, { append, onWritten });
