export type { ColumnNames, WriteColumns } from "./csv-columns.ts";
export type { InvalidLine, OnInvalid } from "./invalid.ts";
export type { ReadOptions, WriteOptions, Written } from "./options.ts";
export {
  type ContactRow,
  type FieldsSchema,
  type ReadContactsOptions,
  readContacts,
} from "./read-contacts.ts";
export { type CellPlace, type ReadCsvOptions, readCsv } from "./read-csv.ts";
export { type ReadNdjsonOptions, readNdjson } from "./read-ndjson.ts";
export type { FileSource } from "./source.ts";
export { type WriteCsvOptions, writeCsv } from "./write-csv.ts";
export { type WriteNdjsonOptions, writeNdjson } from "./write-ndjson.ts";
export type { FileTarget } from "./write-records.ts";
