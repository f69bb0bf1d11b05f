import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Request, textOf, UsageError } from "./cli-command.ts";
import type { ProgressBar } from "./progress-bar.ts";
import { UnreadableLine } from "./readable-records.ts";
import { type RejectedRecord, rejectedFile } from "./rejected-file.ts";

/** A record that an ingestion or an import refused. */
export interface Refused {
  readonly item: object;
  readonly index: number;
  readonly status: number | undefined;
  readonly error: string;
}

// Enough to see what is wrong; the file keeps all.
const mostShown = 10;

const recordOf = ({ item, index, status, error }: Refused): RejectedRecord => {
  const record = index + 1;
  if (item instanceof UnreadableLine)
    return { record, line: item.line, error: item.error, rejected: item.text };
  return { record, ...(status === undefined ? {} : { status }), error, rejected: item };
};

const describe = ({ record, line, status, error }: RejectedRecord): string => {
  const place = line === undefined ? `record ${record}` : `line ${line}`;
  return `${place}: ${error}${status === undefined ? "" : ` (${status})`}`;
};

const exists = async (path: string | undefined): Promise<boolean> =>
  path !== undefined && (await stat(path).catch(() => undefined)) !== undefined;

/** Shows the first refused records, and keeps all in the file that `--rejected` names. */
export const rejections = async (request: Request, bar: ProgressBar) => {
  const path = textOf(request, "rejected");
  if (path !== undefined && resolve(path) === resolve(request.operands[0] ?? ""))
    throw new UsageError("--rejected must not be the file that is read");
  const isResumed = await exists(textOf(request, "checkpoint"));
  const keep = path === undefined ? undefined : await rejectedFile(path, isResumed);
  let count = 0;
  return async (refused: Refused): Promise<void> => {
    const rejected = recordOf(refused);
    count += 1;
    if (count <= mostShown) bar.print(describe(rejected));
    if (count === mostShown + 1)
      bar.print(
        path === undefined
          ? "further ones are not shown; --rejected <path> keeps all"
          : `further ones: see ${path}`,
      );
    await keep?.(rejected);
  };
};
