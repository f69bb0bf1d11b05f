import { rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, ResponseValidationError, ValidationError } from "../errors.ts";
import { explained, keptDraftOf, openDraft } from "../runtime/atomic-file.ts";
import { type StateKind, stateFile } from "../runtime/saved-state.ts";
import { isCount } from "../runtime/values.ts";
import type { WriteOptions, Written } from "./options.ts";
import { pathOf } from "./source.ts";
import type { FileForm, FileTarget } from "./write-records.ts";

/** A list of the client, such as `client.contacts.list()`. Its pages can be requested from any cursor. */
interface ResumableList {
  readonly request: { readonly operation: string; readonly query: object };
  pages(options: { readonly cursor?: string | undefined }): AsyncIterable<{
    readonly cursor: string;
    readonly data: readonly object[];
  }>;
}

/** The progress of an export, as JSON. It never counts more than the draft has on disk, and always whole pages. */
interface ExportCheckpoint {
  readonly version: 1;
  /** What is exported; another export cannot continue this draft. */
  readonly subject: string;
  /** The cursor of the last page that is written; null before the first. */
  readonly cursor: string | null;
  readonly records: number;
  readonly bytes: number;
  /** The draft is complete; the file is being made of it, or was. */
  readonly isComplete: boolean;
}

const kind: StateKind<ExportCheckpoint> = {
  noun: "checkpoint",
  fits: (value): value is ExportCheckpoint => {
    const found: { [K in keyof ExportCheckpoint]?: unknown } = Object(value);
    return (
      found.version === 1 &&
      typeof found.subject === "string" &&
      (typeof found.cursor === "string" || found.cursor === null) &&
      isCount(found.records) &&
      isCount(found.bytes) &&
      typeof found.isComplete === "boolean"
    );
  },
};

const isList = (records: unknown): records is ResumableList =>
  typeof records === "object" && records !== null && "pages" in records && "request" in records;

/** What an export with a checkpoint writes, and where. */
interface ResumableTarget {
  readonly path: string;
  readonly list: ResumableList;
  readonly checkpoint: string;
  /** The permissions of a new draft, less the umask. */
  readonly mode?: number;
  /** Makes the file of a complete draft; by default the draft is renamed. A run that was killed meanwhile repeats it. */
  readonly finish?: (draftPath: string) => Promise<void>;
}

/** The arguments of an export with a checkpoint. @throws for arguments that cannot be combined. */
export const resumableTarget = (
  target: FileTarget,
  records: unknown,
  { gzip, checkpoint }: WriteOptions,
): ResumableTarget | undefined => {
  if (checkpoint === undefined) return undefined;
  const path = pathOf(target);
  if (path === undefined) throw new ConfigurationError("checkpoint needs the path of a file, not a stream");
  if (gzip ?? path.endsWith(".gz"))
    throw new ConfigurationError(
      `${path}: checkpoint cannot go with gzip; write it plain and compress it at the end`,
    );
  if (!isList(records))
    throw new ValidationError("checkpoint needs a list of the client, such as client.contacts.list()");
  return { path: resolve(path), list: records, checkpoint: resolve(checkpoint) };
};

/** The error of a list that refuses the cursor of a checkpoint; other errors as they are. */
const misfitOr = (error: unknown, checkpoint: string): unknown =>
  error instanceof ResponseValidationError
    ? new ConfigurationError(
        `checkpoint ${checkpoint} does not fit the list, which may be of another workspace, or has lost all contacts that were read last: delete it to start over`,
        { cause: error },
      )
    : error;

/** Where an export starts: at its checkpoint, if there is one, and if its draft is there. */
const startOf = async (path: string, checkpoint: string, subject: string) => {
  const file = stateFile(checkpoint, kind);
  const found = await file.load();
  if (found !== undefined && found.subject !== subject)
    throw new ConfigurationError(
      `checkpoint ${checkpoint} belongs to an export with another query, other columns or another form: delete it to start over`,
    );
  const draftPath = await explained(path, () => keptDraftOf(path));
  const size = (await stat(draftPath).catch(() => undefined))?.size;
  // The process was killed between renaming or removing the draft and deleting the checkpoint.
  const isFinished = found?.isComplete === true && size === undefined;
  if (found !== undefined && !isFinished && (size ?? -1) < found.bytes)
    throw new ConfigurationError(
      `${draftPath} is missing or shorter than checkpoint ${checkpoint} says: delete the checkpoint to start over`,
    );
  return { file, found, draftPath, isFinished };
};

/**
 * Writes a list to `<path>.partial`, page by page, with a checkpoint after each, and makes the file of it at the end.
 *
 * After a kill, the next run continues at the checkpoint: it removes what the draft has beyond that.
 *
 * @param settings - what determines the content of the file: a run with others cannot continue it.
 */
export const writeResumable = async (
  { path, list, checkpoint, mode, finish }: ResumableTarget,
  settings: object,
  { header, row }: FileForm,
  { onWritten }: WriteOptions,
): Promise<Written> => {
  const { limit: _any, ...query }: { limit?: unknown } = list.request.query;
  const subject = JSON.stringify({ operation: list.request.operation, query, form: settings });
  const { file, found, draftPath, isFinished } = await startOf(path, checkpoint, subject);
  const nothing = { cursor: null, records: 0, bytes: 0, isComplete: false };
  const start: ExportCheckpoint = found ?? { version: 1, subject, ...nothing };
  let state = start;
  const resumed = start.records;
  const written = (): Written => ({ records: state.records, bytes: state.bytes, resumed });
  const save = async (progress: Partial<ExportCheckpoint>) => {
    const next = { ...state, ...progress };
    await file.save(next);
    state = next;
  };
  if (!isFinished) {
    const draft = await openDraft(path, path, { isKept: true, keepBytes: found?.bytes, mode });
    const append = async (cursor: string | null, page: readonly object[]): Promise<void> => {
      const rows = page.map((record, index) => row(record, state.records + index + 1));
      const block = Buffer.from((state.bytes === 0 ? header : "") + rows.join(""));
      await draft.append(block);
      await draft.sync();
      await save({ cursor, records: state.records + page.length, bytes: state.bytes + block.length });
      if (page.length > 0) await onWritten?.(written());
    };
    try {
      if (!state.isComplete) {
        for await (const { cursor, data } of list.pages({ cursor: state.cursor ?? undefined }))
          await append(cursor, data);
        if (state.bytes === 0) await append(state.cursor, []);
      }
      // In this order, because a draft without its checkpoint is started again.
      await save({ isComplete: true });
      if (finish === undefined) await draft.commit();
      else {
        await draft.discard();
        await finish(draftPath);
        await rm(draftPath, { force: true });
      }
    } catch (error) {
      await draft.discard();
      if (found !== undefined) throw misfitOr(error, checkpoint);
      if (state === start) await rm(draftPath, { force: true });
      throw error;
    }
  }
  await file.remove();
  return written();
};
