import { readContacts } from "../files/index.ts";
import type { ContactInput } from "../index.ts";
import { type CliCommand, countOf, type Request } from "./command.ts";
import { columnsOf } from "./contact-columns.ts";
import { delimiterOf, delimiterOption, formatOf, formatOption } from "./record-file.ts";
import { openRecords, UnreadableLine } from "./rejections.ts";
import { resumableOptions, runResumable } from "./run-resumable.ts";

const contactsOf = async (request: Request, path: string) => {
  const format = formatOf(path, request);
  const delimiter = delimiterOf(request, format);
  const columns = format === "csv" ? await columnsOf(path, delimiter) : {};
  const isAssumed = path === "-" && request.values.format === undefined;
  return openRecords<ContactInput>(
    path,
    (source, options) => readContacts(source, { ...options, columns, delimiter, format }),
    isAssumed ? "For CSV give --format csv" : undefined,
  );
};

export const contactsImport: CliCommand = {
  name: "contacts import",
  about:
    "Creates or updates every contact of a CSV or NDJSON file, by email.\n" +
    "A contact that already has these values is not sent. The columns are those of an export; id and times are\n" +
    'ignored, and so are empty cells. In a custom field, 3 is a number and "3" in quotes is text. A column that\n' +
    "is no field of a contact is refused; a custom field is named customFields.plan.\n" +
    "- reads standard input.",
  example: "touchpoint contacts import contacts.csv --plan",
  operands: ["<file>"],
  options: {
    "--add-to-list <list id>": "add every contact of the file to this list",
    ...delimiterOption,
    ...formatOption,
    "--plan":
      "change nothing; write what would happen to each row as NDJSON, and the report to standard error",
    "--concurrency <n>": "batches in flight at once, default 8",
    ...resumableOptions,
  },
  run: async (request) => {
    const [file = ""] = request.operands;
    const concurrency = countOf(request, "concurrency", { least: 1, most: 100 });
    const input = await contactsOf(request, file);
    const addToList = request.values["add-to-list"];
    const isPlan = request.flags.has("plan");
    const around = isPlan ? { ...request, stdout: request.stderr } : request;
    return runResumable(around, input, async ({ client, onProgress, reject }) => {
      /** Why each unreadable line could not be read: the import only sees that it is no contact. */
      const unreadable = new Map<number, string>();
      const { plan, ...report } = await client.contacts.import(input.records, {
        dryRun: isPlan,
        checkpoint: request.values.checkpoint,
        concurrency,
        addToList,
        signal: request.interrupt,
        onProgress,
        onRejected: ({ contact, ...refused }) => {
          if (contact instanceof UnreadableLine) unreadable.set(refused.index, contact.error);
          return reject({ ...refused, rejected: contact });
        },
      });
      for (const { reason: given, ...row } of plan ?? []) {
        const reason = unreadable.get(row.index) ?? given;
        await request.stdout.write(`${JSON.stringify({ ...row, reason })}\n`);
      }
      return report;
    });
  },
  afterInterrupt: "Run the same command again: contacts that are done are recognised, none is created twice.",
};
