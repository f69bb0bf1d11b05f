import { type OnInvalid, readCsv, readNdjson } from "../files/index.ts";
import type { ContactInput } from "../index.ts";
import { assertList } from "./assert-list.ts";
import { type CliCommand, countOf, listOf, type Request, textOf, UsageError } from "./cli-command.ts";
import { contactCells, writableFields } from "./contact-cells.ts";
import { contactColumns } from "./contact-columns.ts";
import { readableRecords, UnreadableLine } from "./readable-records.ts";
import { delimiterOf, delimiterOption, formatOption, recordFile } from "./record-file.ts";
import { resumableOptions, runResumable } from "./run-resumable.ts";

async function* contactsIn(records: AsyncIterable<object>): AsyncGenerator<ContactInput> {
  for await (const record of records) {
    const contact = record instanceof UnreadableLine ? record : writableFields(record);
    // Whatever it holds: import checks each record, and rejects what is no contact.
    yield contact as ContactInput;
  }
}

type Reader = (onInvalid: OnInvalid) => AsyncIterable<object>;

const readerOf = async (request: Request, path: string): Promise<Reader> => {
  const jsonColumns = listOf(request, "json-columns");
  const file = recordFile(path, request);
  const delimiter = delimiterOf(request, file);
  const source = path === "-" ? process.stdin : path;
  const name = path === "-" ? "standard input" : path;
  if (file.format === "csv") {
    const cast = contactCells(jsonColumns ?? []);
    const columns = await contactColumns(request, path, delimiter);
    return (onInvalid) => readCsv(source, { onInvalid, cast, columns, delimiter, name });
  }
  if (jsonColumns !== undefined) throw new UsageError("--json-columns is for CSV");
  return (onInvalid) => readNdjson(source, { onInvalid, name });
};

/** `touchpoint contacts import`. */
export const contactsImport: CliCommand = {
  shape: {
    name: "contacts import",
    about:
      "Creates or updates every contact of a CSV or NDJSON file, by email.\n" +
      "A contact that has all these values already is not sent. The columns are those of an export; id and times\n" +
      "are passed over, and so are empty cells. A column that is nearly the name of a field is refused.\n" +
      "- reads standard input. A file that --rejected wrote can be given once it is corrected.",
    operands: ["<file>"],
    options: {
      "json-columns": {
        type: "string",
        value: "<a,b,…>",
        about: "columns whose cells are JSON, for custom fields that are no text: customFields.seats",
      },
      "add-to-list": {
        type: "string",
        value: "<list id>",
        about: "add every contact of the file to this list",
      },
      ...delimiterOption,
      ...formatOption,
      concurrency: { type: "string", value: "<n>", about: "batches under way at once, default 8" },
      ...resumableOptions,
    },
  },
  run: async (request) => {
    const [file = ""] = request.operands;
    const concurrency = countOf(request, "concurrency", { least: 1, most: 100 });
    const read = await readerOf(request, file);
    const addToList = textOf(request, "add-to-list");
    return runResumable(request, async ({ client, checkpoint, signal, onProgress, reject }) => {
      if (addToList !== undefined) await assertList(client, addToList, signal);
      return client.contacts.import(contactsIn(readableRecords(read)), {
        checkpoint,
        concurrency,
        addToList,
        signal,
        onProgress,
        onRejected: ({ contact, ...refused }) => reject({ item: contact, ...refused }),
      });
    });
  },
  afterInterrupt: (request) =>
    textOf(request, "checkpoint") === undefined
      ? "Run the same command again: contacts that are done are recognised, none is created twice."
      : "Run the same command again to go on where it stopped.",
};
