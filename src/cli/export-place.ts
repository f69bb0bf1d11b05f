import { open, readFile, rename, rm } from "node:fs/promises";
import type { ExportPosition } from "./written-pages.ts";

/** What an export is of: another one cannot go on with its file. */
export interface ExportSubject {
  readonly baseUrl: string | null;
  readonly search: string | null;
  readonly columns: readonly string[] | null;
}

/** How far an export has come, as JSON beside its file. */
export interface ExportPlace extends ExportPosition {
  readonly version: 1;
  readonly subject: ExportSubject;
  /** How many records and bytes of the file belong to it; what follows was written and not noted. */
  readonly records: number;
  readonly bytes: number;
}

const isPlace = (value: unknown): value is ExportPlace => {
  if (typeof value !== "object" || value === null) return false;
  const { version, subject, cursor, beyond, records, bytes }: Partial<Record<keyof ExportPlace, unknown>> =
    value;
  return (
    version === 1 &&
    typeof subject === "object" &&
    (typeof cursor === "string" || cursor === null) &&
    Array.isArray(beyond) &&
    Number.isSafeInteger(records) &&
    Number.isSafeInteger(bytes)
  );
};

/**
 * Reads the place of an earlier run; undefined when there is none.
 *
 * @throws Error when it is damaged, or that of another export.
 */
export const loadPlace = async (path: string, subject: ExportSubject): Promise<ExportPlace | undefined> => {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  let place: unknown;
  try {
    place = JSON.parse(text);
  } catch {
    // Told below, together with a wrong shape.
  }
  if (!isPlace(place)) throw new Error(`${path} is damaged: leave out --resume to start over`);
  if (JSON.stringify(place.subject) === JSON.stringify(subject)) return place;
  throw new Error(
    `${path} belongs to an export with another --search, --columns or service: leave out --resume to start over`,
  );
};

const synced = async (path: string, flags: "r+" | "w", text?: string): Promise<void> => {
  const handle = await open(path, flags);
  try {
    if (text !== undefined) await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Writes the place so that at any instant the file holds the old one or the new, and never more than `file` has. */
export const savePlace = async (path: string, place: ExportPlace, file: string): Promise<void> => {
  await synced(file, "r+");
  const draft = `${path}.tmp`;
  await synced(draft, "w", `${JSON.stringify(place)}\n`);
  await rename(draft, path);
};

/** Forgets the place. */
export const removePlace = async (path: string): Promise<void> => {
  await rm(path, { force: true });
  await rm(`${path}.tmp`, { force: true });
};
