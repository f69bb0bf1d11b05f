import { ConfigurationError } from "../errors.ts";
import { destinationOf, explained, openDraft } from "./atomic-file.ts";

const suffix = ".partial";

/** The path of the draft that a later run resumes. @param name - what an error calls the file. */
export const partialPathOf = (path: string, name: string): Promise<string> =>
  explained(name, async () => `${await destinationOf(path)}${suffix}`);

/** A draft that is written piece by piece, and kept when the run fails. */
export interface ResumableDraft {
  append(block: string | Uint8Array): Promise<void>;
  /** Makes durable what was appended. */
  sync(): Promise<void>;
  /** Makes it durable and puts it in the place of its target. */
  commit(): Promise<void>;
  /** Closes it, and keeps it for a later run. */
  discard(): Promise<void>;
}

/**
 * Starts a draft at `partialPathOf(path)`, or resumes it after `keepBytes`.
 *
 * @param name - what an error calls the file.
 */
export const openResumable = async (
  path: string,
  name: string,
  options: { readonly keepBytes?: number | undefined; readonly mode?: number },
): Promise<ResumableDraft> => {
  const draft = await explained(name, () => openDraft(path, { suffix, ...options }));
  let bytes = options.keepBytes ?? 0;
  return {
    append: (block) =>
      explained(name, async () => {
        const found = await draft.handle.stat();
        if (found.isFile() && found.size !== bytes)
          throw new ConfigurationError(
            `${draft.path}: another run writes into it; give each a path of its own`,
          );
        // writeFile, because write may accept only a part of the block.
        await draft.handle.writeFile(block);
        bytes += Buffer.byteLength(block);
      }),
    sync: () => explained(name, () => draft.handle.sync()),
    commit: () => explained(name, draft.commit),
    discard: draft.discard,
  };
};
