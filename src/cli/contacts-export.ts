import { type Written, writeCsv, writeNdjson } from "../files/index.ts";
import type { Contact, Paged } from "../index.ts";
import { type CliCommand, jsonOption, listOf, OutputError, type Request, UsageError } from "./command.ts";
import { connectionOptions, type Watched, watch } from "./connect.ts";
import { checkFields, contactFields } from "./contact-columns.ts";
import { assertDistinct, delimiterOf, delimiterOption, formatOf, formatOption } from "./record-file.ts";
import { checkpointOption, writeReport } from "./run-resumable.ts";
import { visibleOn } from "./terminal.ts";

/**
 * Reads the options of `contacts export`.
 *
 * @throws UsageError for a missing, invalid or contradictory option.
 */
export const exportSettings = (request: Pick<Request, "values">) => {
  const { out, search, checkpoint } = request.values;
  if (out === undefined) throw new UsageError("--out <path> is missing");
  const format = formatOf(out, request);
  const columns = listOf(request, "columns");
  if (columns?.length === 0) throw new UsageError("--columns must name at least one column");
  if (columns !== undefined && format !== "csv") throw new UsageError("--columns works only with CSV");
  checkFields("--columns", columns ?? []);
  const repeated = columns?.find((column, index) => columns.indexOf(column) < index);
  if (repeated !== undefined) throw new UsageError(`--columns: ${repeated} appears twice`);
  if (checkpoint !== undefined && out === "-")
    throw new UsageError("--checkpoint does not work with standard output: name a file with --out");
  if (checkpoint !== undefined && /\.gz$/i.test(out))
    throw new UsageError(
      "--checkpoint does not work with a compressed file: export to a plain file and compress it afterwards",
    );
  assertDistinct({ "--out": out, "--checkpoint": checkpoint });
  // Custom fields share one column of JSON. A new custom field that appears after thousands of contacts couldn't get a
  // column of its own, because the header is already written.
  const defaults = format === "csv" ? contactFields : undefined;
  const chosen = { columns: columns ?? defaults, delimiter: delimiterOf(request, format) };
  return { out, format, search, ...chosen, checkpoint };
};

/** Wraps a list so that reading it updates the progress bar. */
const watched = (list: Paged<Contact>, { show }: Watched) => {
  let total: number | undefined;
  async function* pages(from?: { readonly cursor?: string | undefined }) {
    for await (const page of list.pages(from)) {
      total = page.total ?? undefined;
      yield page;
    }
  }
  async function* contacts(): AsyncGenerator<Contact> {
    for await (const { data } of pages()) yield* data;
  }
  const onWritten = ({ records }: Written): void => show({ done: records, total });
  return { source: { request: list.request, pages, [Symbol.asyncIterator]: contacts }, onWritten };
};

/** Rethrows a failed write to standard output as an error that names it. Errors of files already contain the path. */
const explainedOutput = (error: unknown): never => {
  throw error instanceof Error && "syscall" in error ? new OutputError(error) : error;
};

export const contactsExport: CliCommand = {
  name: "contacts export",
  about:
    "Writes every contact to a file exactly once, even while contacts are added and deleted.\n" +
    "The file appears when the export is complete.",
  example: "touchpoint contacts export --out contacts.csv --checkpoint export.json",
  operands: [],
  options: {
    "-o, --out <path>": "a .csv or .ndjson file, optionally with .gz; - for standard output",
    "-s, --search <text>": "only contacts that match the text, for example an email address",
    "--columns <a,b,…>":
      "the columns of a CSV file: email,name,customFields.plan (default: all, with customFields as JSON)",
    ...delimiterOption,
    ...formatOption("output"),
    ...checkpointOption,
    ...connectionOptions,
    ...jsonOption,
  },
  run: async (request) => {
    const { out, format, search, columns, delimiter, checkpoint } = exportSettings(request);
    const isPiped = out === "-";
    const startedAt = request.now();
    await using watching = await watch(request);
    const list = watching.client.contacts.list({ search }, { signal: request.interrupt });
    const { source, onWritten } = watched(list, watching);
    const target = isPiped ? visibleOn(process.stdout) : out;
    const options = { checkpoint, onWritten };
    const written =
      format === "csv"
        ? writeCsv(target, source, { ...options, columns, delimiter })
        : writeNdjson(target, source, options);
    const { records: contacts, bytes, resumed = 0 } = await written.catch(explainedOutput);
    watching.bar.end();
    const elapsedMs = Math.round(request.now() - startedAt);
    // Standard output contains the contacts, so the report goes to standard error.
    const to = isPiped ? { ...request, stdout: request.stderr } : request;
    await writeReport(to, { file: out, contacts, resumed, bytes, elapsedMs });
    return watching.exitCode();
  },
  afterInterrupt:
    "The export is not complete. An export to a file with --checkpoint <path> can continue where it stopped.",
};
