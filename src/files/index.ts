export type { WriteColumns } from "./csv-columns.ts";
export type { ColumnNames } from "./csv-header.ts";
export type { InvalidLine, OnInvalid } from "./invalid.ts";
export {
  type ContactRow,
  type FieldsSchema,
  type ReadContactsOptions,
  readContacts,
} from "./read-contacts.ts";
export { type CellPlace, type ReadCsvOptions, readCsv } from "./read-csv.ts";
export { type ReadNdjsonOptions, readNdjson } from "./read-ndjson.ts";
export type { ReadOptions } from "./read-options.ts";
export type { FileSource } from "./source.ts";
export type { FileTarget } from "./target.ts";
export { writeCsv } from "./write-csv.ts";
export type { WriteCsvOptions } from "./write-csv-options.ts";
export { type WriteNdjsonOptions, writeNdjson } from "./write-ndjson.ts";
export type { WriteOptions, Written } from "./write-options.ts";
