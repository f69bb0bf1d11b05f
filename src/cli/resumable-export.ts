import { rename, rm, stat, truncate } from "node:fs/promises";
import type { Written } from "../files/index.ts";
import type { Contact, WalkedPage } from "../index.ts";
import { type ExportPlace, type ExportSubject, loadPlace, removePlace, savePlace } from "./export-place.ts";
import type { ExportSettings } from "./export-settings.ts";
import { writeContacts } from "./write-contacts.ts";
import { WrittenPages } from "./written-pages.ts";

/** What an export wrote: the whole file, and how much of it is of earlier runs. */
export interface Exported extends Written {
  readonly resumed: number;
}

/** Where an export begins. */
export interface ExportStart {
  readonly cursor: string | undefined;
  /** Records that come before it. */
  readonly done: number;
}

const start = { cursor: null, beyond: [], records: 0, bytes: 0 };

/** Cuts the file to what the place covers: what was written after it is read again. */
const cutTo = async (path: string, { bytes }: ExportPlace): Promise<void> => {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.size < bytes)
    throw new Error(`${path} is missing or shorter than noted: leave out --resume to start over`);
  await truncate(path, bytes);
};

/**
 * Exports into a draft beside the file, with a note of how far it is, and renames the draft at the end.
 *
 * The note never says more than the draft has on disk, so whatever kills the export, the next one begins where the
 * note says, and leaves out what is beyond it in the draft.
 */
export const resumableExport = async (
  settings: ExportSettings,
  baseUrl: string | undefined,
  pages: (start: ExportStart) => AsyncIterable<WalkedPage<Contact>>,
): Promise<Exported> => {
  const { out, search, columns, isResumed } = settings;
  const draft = `${out}.partial`;
  const note = `${draft}.json`;
  const subject: ExportSubject = {
    baseUrl: baseUrl ?? null,
    search: search ?? null,
    columns: columns ?? null,
  };

  const place = isResumed ? await loadPlace(note, subject) : undefined;
  if (place !== undefined) await cutTo(draft, place);
  else await Promise.all([removePlace(note), rm(draft, { force: true })]);

  const before = place ?? start;
  const written = new WrittenPages(before);
  async function* contacts(): AsyncGenerator<Contact> {
    const from = { cursor: before.cursor ?? undefined, done: before.records - before.beyond.length };
    for await (const page of pages(from)) yield* written.read(page);
  }
  const sum = ({ records, bytes }: Written): Written => ({
    records: before.records + records,
    bytes: before.bytes + bytes,
  });
  const total = await writeContacts(draft, contacts(), {
    ...settings,
    append: true,
    onWritten: (now) =>
      savePlace(note, { version: 1, subject, ...written.written(now.records), ...sum(now) }, draft),
  });
  // In this order: a draft without its note is begun anew, a note without its draft could not go on.
  await removePlace(note);
  await rename(draft, out);
  return { ...sum(total), resumed: before.records };
};
