import { type FileSource, type ReadOptions, readContacts } from "../files/index.ts";
import type { ContactInput } from "../index.ts";
import { type CliCommand, countOf, type Request, UsageError } from "./command.ts";
import { checkHeader, contactFields, readMap } from "./contact-columns.ts";
import { planTable } from "./plan-table.ts";
import {
  delimiterOf,
  delimiterOption,
  firstLinesOf,
  foreignFileOptions,
  formatOption,
  inputFormatOf,
} from "./record-file.ts";
import { openRecords } from "./rejections.ts";
import { resumableOptions, runResumable } from "./run-resumable.ts";

/** The user's options that the corrected command in an error message repeats. */
const repeatedOptions = ["format", "encoding", "delimiter", "types", "skip-lines", "add-to-list"] as const;

const contactsOf = (request: Request, path: string) => {
  const format = inputFormatOf(path, request);
  const delimiter = delimiterOf(request, format);
  const skipLines = countOf(request, "skip-lines", { least: 0, most: 1_000_000 });
  const map = readMap(request);
  // `delimiterOf` has already refused --delimiter for NDJSON. --encoding works with NDJSON.
  const [csvOnlyOption] = ["map", "types", "skip-lines"].filter(
    (name) => format !== "csv" && (request.values[name] ?? request.lists[name]) !== undefined,
  );
  if (csvOnlyOption !== undefined) throw new UsageError(`--${csvOnlyOption} works only with CSV`);
  const isFormatAssumed = path === "-" && request.values.format === undefined;
  const { encoding } = request.values;
  let hasHeader = format !== "csv";
  const options = repeatedOptions.flatMap((name) => {
    const value = request.values[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  const onHeader = (names: readonly string[]): void => {
    hasHeader = true;
    const firstLines = () => (path === "-" ? [] : firstLinesOf(path, encoding));
    checkHeader(path, names, map, { firstLines, delimiter, options });
  };
  const csv = { ...map, delimiter, skipLines, onHeader };
  async function* read(source: FileSource, options: ReadOptions): AsyncGenerator<object> {
    yield* readContacts(source, { ...options, ...(format === "csv" ? csv : {}), format, encoding });
    if (!hasHeader) throw new UsageError(`${path}: the file is empty. A CSV file must start with a header`);
  }
  return openRecords<ContactInput>(path, read, isFormatAssumed ? "For CSV, add --format csv" : undefined);
};

// Enough to see what is wrong: a file may have thousands of names.
const maxNamed = 10;

/**
 * Passes records on, and warns about the first 10 field names that are not documented fields of a contact. The client's
 * own warning, `unknownFields: { mode: "warn" }`, would repeat each name for every record.
 */
async function* withFieldWarnings<T extends object>(
  records: AsyncIterable<T>,
  print: (line: string) => void,
): AsyncGenerator<T> {
  const names = new Set(contactFields);
  for await (const record of records) {
    for (const name of Object.keys(record)) {
      if (names.has(name) || names.size === contactFields.length + maxNamed) continue;
      names.add(name);
      print(`"${name}" is not a field of a contact: the service may ignore it. Put it into customFields`);
    }
    yield record;
  }
}

export const contactsImport: CliCommand = {
  name: "contacts import",
  about:
    "Creates or updates every contact of a CSV or NDJSON file, by email.\n" +
    "The import does not update a contact that already has the values of its row. The columns are those of an\n" +
    'export. The import ignores id, times and empty cells. In a custom field, 3 is a number and "3" in quotes is\n' +
    "text. The import refuses a column that is not a field of a contact. Name a custom field like this:\n" +
    "customFields.plan.\n" +
    "- reads standard input.",
  example: "touchpoint contacts import contacts.csv --plan",
  operands: ["<file>"],
  options: {
    "--add-to-list <list id>": "add every contact of the file to this list",
    ...foreignFileOptions,
    ...delimiterOption,
    ...formatOption("input"),
    "--plan":
      "change nothing, and show what would happen to each row. On a terminal, the plan is a table. Otherwise, or with --json, the plan is NDJSON with one line per row. The report goes to standard error",
    "--concurrency <n>": "the number of batches in flight at once; default 8",
    ...resumableOptions,
  },
  run: async (request) => {
    const [file = ""] = request.operands;
    const concurrency = countOf(request, "concurrency", { least: 1, most: 100 });
    const input = contactsOf(request, file);
    const addToList = request.values["add-to-list"];
    const isPlan = request.flags.has("plan");
    const around = isPlan ? { ...request, stdout: request.stderr } : request;
    return runResumable(around, input, async ({ client, onProgress, reject, print }) => {
      const { plan = [], ...report } = await client.contacts.import(withFieldWarnings(input.records, print), {
        dryRun: isPlan,
        checkpoint: request.values.checkpoint,
        concurrency,
        addToList,
        signal: request.interrupt,
        onProgress,
        onRejected: ({ contact, ...refused }) => reject({ ...refused, rejected: contact }),
      });
      if (isPlan && request.isTerminal && !request.flags.has("json"))
        await request.stdout.write(planTable(plan));
      else for (const row of plan) await request.stdout.write(`${JSON.stringify(row)}\n`);
      return report;
    });
  },
  afterInterrupt:
    "Run the same command again. The import recognizes finished contacts and creates none twice.",
};
