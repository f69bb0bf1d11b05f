import type { CellPlace } from "../files/index.ts";

/** What the service sets itself: a file that was exported has these columns, and they cannot be written. */
const setByService = ["id", "externalId", "createdAt", "updatedAt"];

/** How the cells of the columns that are not text are read; what cannot be read stays text, and is refused as such. */
const kinds = new Map<string, (cell: string) => unknown>([
  ["verified", (cell) => (cell === "true" || cell === "false" ? cell === "true" : cell)],
  ["emailConfidence", (cell) => (Number.isFinite(Number(cell)) ? Number(cell) : cell)],
  ["listIds", (cell) => cell.split(";")],
  ["customFields", (cell) => JSON.parse(cell)],
]);

/**
 * Makes the reader of a contact file's cells: text, but for the contact's own fields of another kind and for
 * `jsonColumns`, whose cells are read as JSON (`80`, `true`, `["a"]`).
 */
export const contactCells = (jsonColumns: readonly string[]) => {
  const isJson = new Set(jsonColumns);
  return (cell: string, place: CellPlace): unknown => {
    const column = place.column.trim();
    if (isJson.has(column)) return JSON.parse(cell);
    return kinds.get(column)?.(cell) ?? cell;
  };
};

/** The fields of a record that can be written to a contact. */
export const writableFields = (record: object): object =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !setByService.includes(name)));
