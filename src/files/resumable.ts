import { readFile, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, ResponseValidationError, ValidationError } from "../errors.ts";
import { destinationOf, openDraft, removeOldDrafts, writeFileAtomically } from "../runtime/atomic-file.ts";
import { isMissingFile } from "../runtime/values.ts";
import type { WriteOptions, Written } from "./options.ts";
import { pathOf } from "./source.ts";
import { explained, type FileTarget, naming } from "./target.ts";
import { type Piece, writePieces } from "./write-pieces.ts";
import { type ExportPosition, WrittenPages } from "./written-pages.ts";

/** A list of the client, such as `client.contacts.list()`. Its pages can be requested from any cursor. */
interface ResumableList {
  readonly request: { readonly operation: string; readonly query: object };
  pages(options: { readonly cursor?: string | undefined }): AsyncIterable<{
    readonly cursor: string;
    readonly data: readonly { readonly id: string }[];
  }>;
}

/** The progress of an export, as JSON. It never counts more than the draft has on disk. */
interface ExportCheckpoint extends ExportPosition {
  readonly version: 1;
  /** What is exported; another export cannot continue this draft. */
  readonly subject: string;
  readonly records: number;
  readonly bytes: number;
  /** Everything is written; the draft is being renamed, or was. */
  readonly isComplete: boolean;
}

const isCheckpoint = (value: unknown): value is ExportCheckpoint => {
  const { subject, cursor, beyond, records, bytes, isComplete }: { [K in keyof ExportCheckpoint]?: unknown } =
    Object(value);
  return (
    typeof subject === "string" &&
    (typeof cursor === "string" || cursor === null) &&
    Array.isArray(beyond) &&
    [records, bytes].every((count) => Number.isSafeInteger(count) && Number(count) >= 0) &&
    typeof isComplete === "boolean"
  );
};

const loadCheckpoint = async (path: string, subject: string): Promise<ExportCheckpoint | undefined> => {
  const refuse = (what: string, cause?: unknown): never => {
    throw new ConfigurationError(`checkpoint ${path} ${what}`, { cause });
  };
  let state: unknown;
  try {
    state = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    if (isMissingFile(cause)) return undefined;
    refuse(
      cause instanceof SyntaxError ? "is damaged: delete it to start over" : `cannot be read: ${cause}`,
      cause,
    );
  }
  const { version }: { version?: unknown } = Object(state);
  if (typeof version === "number" && version > 1)
    refuse("is of a newer version of this library: update it here, or delete the checkpoint to start over");
  if (!isCheckpoint(state)) return refuse("is damaged, or of something else: delete it to start over");
  if (state.subject === subject) return state;
  return refuse(
    "belongs to an export with another query, other columns or another form: delete it to start over",
  );
};

const isList = (records: unknown): records is ResumableList =>
  typeof records === "object" && records !== null && "pages" in records && "request" in records;

/** The suffix of a draft. */
const suffix = ".partial";

const start = { cursor: null, beyond: [], records: 0, bytes: 0 };

/** How records become pieces of the file; `isBegun` if the file has its header already. */
type ToPieces = (records: AsyncIterable<object>, isBegun: boolean) => AsyncIterable<Piece>;

/** The arguments of an export with a checkpoint. @throws for arguments that cannot be combined. */
export const resumableTarget = (
  target: FileTarget,
  records: unknown,
  { gzip, checkpoint }: WriteOptions,
): { readonly path: string; readonly list: ResumableList; readonly checkpoint: string } | undefined => {
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

/**
 * Writes a list to `<path>.partial`, with a checkpoint of its progress, and renames it at the end.
 *
 * After a kill, the next run continues at the checkpoint: it removes what the draft has beyond that, and skips the
 * records of a partly written page that are in the file already.
 */
export const writeResumable = async (
  { path, list, checkpoint }: NonNullable<ReturnType<typeof resumableTarget>>,
  form: object,
  toPieces: ToPieces,
  { onWritten }: WriteOptions,
): Promise<Written> => {
  const { limit: _any, ...query }: { limit?: unknown } = list.request.query;
  const subject = JSON.stringify({ operation: list.request.operation, query, form });
  await explained(checkpoint, () => removeOldDrafts(checkpoint));
  const found = await loadCheckpoint(checkpoint, subject);
  const before = found ?? start;
  const draftPath = `${await explained(path, () => destinationOf(path))}${suffix}`;
  const size = await stat(draftPath).then(
    ({ size }) => size,
    () => undefined,
  );
  if (found?.isComplete && size === undefined) {
    // The process was killed between renaming the file and deleting the checkpoint.
    await rm(checkpoint, { force: true });
    return { records: before.records, bytes: before.bytes, resumed: before.records };
  }
  if (found !== undefined && (size ?? -1) < before.bytes)
    throw new ConfigurationError(
      `${draftPath} is missing or shorter than checkpoint ${checkpoint} says: delete the checkpoint to start over`,
    );

  const draft = await explained(path, () => openDraft(path, { suffix, keepBytes: found?.bytes }));
  const pages = new WrittenPages(before);
  let latest: Omit<ExportCheckpoint, "isComplete"> = { version: 1, subject, ...before };
  const save = (isComplete: boolean) =>
    explained(checkpoint, () =>
      writeFileAtomically(checkpoint, `${JSON.stringify({ ...latest, isComplete })}\n`, 0o600),
    );
  const sum = ({ records, bytes }: Written): Written => ({
    records: before.records + records,
    bytes: before.bytes + bytes,
    resumed: before.records,
  });
  async function* records(): AsyncGenerator<object> {
    if (found?.isComplete) return;
    try {
      for await (const page of list.pages({ cursor: before.cursor ?? undefined })) yield* pages.read(page);
    } catch (cause) {
      if (!(cause instanceof ResponseValidationError) || found === undefined) throw cause;
      throw new ConfigurationError(
        `checkpoint ${checkpoint} does not fit the list, which may be of another workspace, or has lost all contacts that were read last: delete it to start over`,
        { cause },
      );
    }
  }
  const written = await writePieces(
    naming(path, {
      write: (block) => draft.handle.writeFile(block),
      commit: async () => {
        await draft.handle.sync();
        // In this order, because a draft without its checkpoint is started again.
        await save(true);
        await draft.commit();
        await rm(checkpoint, { force: true });
      },
      abandon: async () => {
        const isEmpty = (await draft.handle.stat().catch(() => undefined))?.size === 0;
        await draft.discard();
        if (isEmpty) await rm(draft.path, { force: true });
      },
    }),
    toPieces(records(), found !== undefined && found.bytes > 0),
    {
      isEager: true,
      onWritten: async (now) => {
        const { records, bytes } = sum(now);
        latest = { version: 1, subject, ...pages.written(now.records), records, bytes };
        await draft.handle.sync();
        await save(false);
        await onWritten?.(sum(now));
      },
    },
  );
  return sum(written);
};
