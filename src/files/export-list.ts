import { resolve } from "node:path";
import { ConfigurationError, ResponseValidationError, ValidationError } from "../errors.ts";
import { Resumable } from "../runtime/resumable.ts";
import { stateFile, stateKind } from "../runtime/saved-state.ts";
import { isCount, isString, isStringOrNull } from "../runtime/values.ts";
import type { WriteOptions, Written } from "./options.ts";
import { pathOf } from "./source.ts";
import type { FileForm, FileTarget } from "./write-records.ts";

/** A list of the client, such as `client.contacts.list()`. An export can continue it at any cursor. */
interface ExportedList {
  readonly request: { readonly operation: string; readonly query: object };
  pages(options: { readonly cursor?: string | undefined }): AsyncIterable<{
    readonly cursor: string;
    readonly data: readonly object[];
  }>;
}

/** The progress of an export, as JSON. Counts only complete pages that the draft has on disk. */
interface ExportCheckpoint {
  readonly version: 1;
  /** Identifies the export, because another export must not continue this draft. */
  readonly subject: string;
  /** The cursor of the last written page; null before the first page. */
  readonly cursor: string | null;
  readonly records: number;
  readonly bytes: number;
  /** Whether the draft is complete, so that the only remaining step is to create the file from the draft. */
  readonly isComplete: boolean;
}

const checkpoints = stateKind<ExportCheckpoint>("checkpoint", {
  subject: isString,
  cursor: isStringOrNull,
  records: isCount,
  bytes: isCount,
  isComplete: (value) => typeof value === "boolean",
});

const isList = (records: unknown): records is ExportedList =>
  typeof records === "object" && records !== null && "pages" in records && "request" in records;

/** The files of an export with a checkpoint. */
interface ExportTarget {
  readonly path: string;
  readonly list: ExportedList;
  readonly checkpoint: string;
  /** The permissions of a new draft, before the umask. */
  readonly mode?: number;
  /** Creates the file from a complete draft; by default, renames the draft. After a kill, the next run repeats this. */
  readonly finish?: (draftPath: string) => Promise<void>;
}

/** Checks the arguments of an export. Undefined without a checkpoint. @throws for arguments that cannot be combined. */
export const exportTarget = (
  target: FileTarget,
  records: unknown,
  { gzip, checkpoint }: WriteOptions,
): ExportTarget | undefined => {
  if (checkpoint === undefined) return undefined;
  const path = pathOf(target);
  if (path === undefined) throw new ConfigurationError("checkpoint needs the path of a file, not a stream");
  if (gzip ?? path.endsWith(".gz"))
    throw new ConfigurationError(
      `${path}: checkpoint does not work with gzip: write a plain file, and compress it at the end`,
    );
  // If the checkpoint had the path of the file or of a draft, one would overwrite or delete the other.
  if (["", ".partial", ".records.partial"].some((end) => resolve(checkpoint) === resolve(path) + end))
    throw new ConfigurationError(`${path}: checkpoint must be a different file`);
  if (!isList(records))
    throw new ValidationError(
      "with checkpoint, the records must be a list that the client returned, such as client.contacts.list()",
    );
  return { path: resolve(path), list: records, checkpoint: resolve(checkpoint) };
};

/**
 * Writes a list to `<path>.partial`, page by page, and saves a checkpoint after each page. At the end, it creates the
 * file from that draft.
 *
 * After a kill, the next run continues at the checkpoint. It removes the bytes of the draft that came after the
 * checkpoint.
 *
 * @param settings - the settings that determine the content of the file. A run with other settings cannot continue it.
 */
export const exportList = async (
  { path, list, checkpoint, mode, finish }: ExportTarget,
  settings: object,
  { header, row }: FileForm,
  { onWritten }: WriteOptions,
): Promise<Written> => {
  const { limit: _, ...query }: { limit?: unknown } = list.request.query;
  const subject = JSON.stringify({ operation: list.request.operation, query, form: settings });
  const work = new Resumable<ExportCheckpoint>({
    name: `checkpoint ${checkpoint}`,
    store: stateFile(checkpoint, checkpoints),
    fresh: { version: 1, subject, cursor: null, records: 0, bytes: 0, isComplete: false },
  });
  await work.resume(
    (before) =>
      before.subject === subject ||
      work.refuse(
        "belongs to an export with a different query, different columns or another format. To start over, delete the checkpoint",
      ),
  );
  const resumed = work.state.records;
  const written = (): Written => ({ records: work.state.records, bytes: work.state.bytes, resumed });
  const append = async (cursor: string | null, page: readonly object[]): Promise<void> => {
    const { records, bytes } = work.state;
    const rows = page.map((record, index) => row(record, records + index + 1));
    const block = Buffer.from((bytes === 0 ? header : "") + rows.join(""));
    await work.append(block);
    const progress = { cursor, records: records + page.length, bytes: bytes + block.length };
    await work.save({ ...work.state, ...progress });
    if (page.length > 0) await onWritten?.(written());
  };
  // If a complete export has no draft, it was killed between creating the file and deleting the checkpoint.
  const draft = { path, name: path, mode };
  if (!work.state.isComplete || (await work.hasDraft(draft))) await work.openDraft(draft, work.state.bytes);
  try {
    if (!work.state.isComplete) {
      for await (const { cursor, data } of list.pages({ cursor: work.state.cursor ?? undefined }))
        await append(cursor, data);
      if (work.state.bytes === 0) await append(work.state.cursor, []);
      // Save before finishing, because a draft without a checkpoint is written again from its beginning.
      await work.save({ ...work.state, isComplete: true });
    }
    await work.finish(finish);
  } catch (error) {
    await work.leave();
    // The walk's own fault has neither attempts nor issues. A broken or invalid page has, and says nothing about the
    // checkpoint.
    const isOfWalk =
      error instanceof ResponseValidationError && error.attempts === 0 && error.issues.length === 0;
    if (work.isResumed && isOfWalk)
      work.refuse(
        "does not match the list. Either the list belongs to another workspace, or the contacts that were read last have all been deleted. To start over, delete the checkpoint",
        error,
      );
    throw error;
  }
  return written();
};
