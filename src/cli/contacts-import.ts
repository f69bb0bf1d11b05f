import { readContacts } from "../files/index.ts";
import { type Client, type ContactInput, NotFoundError } from "../index.ts";
import { type CliCommand, countOf, isSet, type Request, textOf, UsageError } from "./command.ts";
import { contactColumns } from "./contact-columns.ts";
import { delimiterOf, delimiterOption, formatOption, openInput, recordFile } from "./record-file.ts";
import { readableRecords } from "./rejections.ts";
import { resumableOptions, runResumable } from "./run-resumable.ts";

// Under the domain that no mail reaches: nobody is taken out of the list.
const nobody = "nobody@touchpoint.invalid";

/**
 * Makes sure of a list before anything is written. The service has no call that reads one, so an address that
 * nobody has is removed from it.
 *
 * @throws UsageError when the service has no such list; what else the service says is thrown as it is.
 */
const assertList = async (client: Client, id: string, signal: AbortSignal): Promise<void> => {
  try {
    await client.lists.removeContacts(id, [nobody], { signal });
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new UsageError(`--add-to-list: there is no list "${id}" (${error.message})`, { cause: error });
  }
};

/** The contacts of the file that the command names. */
const contactsOf = async (request: Request, path: string) => {
  const file = recordFile(path, request);
  const { format } = file;
  const delimiter = delimiterOf(request, file);
  const columns = format === "csv" ? await contactColumns(request, path, delimiter) : {};
  const input = openInput(path);
  const { source, name } = input;
  const records = readableRecords((onInvalid) =>
    readContacts(source, { columns, delimiter, format, name, onInvalid }),
  );
  // Whatever it holds: import checks each record, and rejects what is no contact.
  return { input, contacts: input.counted(records) as AsyncIterable<ContactInput> };
};

/** `touchpoint contacts import`. */
export const contactsImport: CliCommand = {
  shape: {
    name: "contacts import",
    about:
      "Creates or updates every contact of a CSV or NDJSON file, by email.\n" +
      "A contact that has all these values already is not sent. The columns are those of an export; id and times\n" +
      'are passed over, and so are empty cells. In a custom field 3 is a number, "3" in quotes is text. A column that is nearly the name of a field is refused.\n' +
      "- reads standard input. A file that --rejected wrote can be given once it is corrected.",
    operands: ["<file>"],
    options: {
      "add-to-list": {
        type: "string",
        value: "<list id>",
        about: "add every contact of the file to this list",
      },
      ...delimiterOption,
      ...formatOption,
      plan: {
        type: "boolean",
        about:
          "change nothing: write what would become of each row as NDJSON, and the report to standard error",
      },
      concurrency: { type: "string", value: "<n>", about: "batches under way at once, default 8" },
      ...resumableOptions,
    },
  },
  run: async (request) => {
    const [file = ""] = request.operands;
    const concurrency = countOf(request, "concurrency", { least: 1, most: 100 });
    const { input, contacts } = await contactsOf(request, file);
    const addToList = textOf(request, "add-to-list");
    const isPlan = isSet(request, "plan");
    const around = isPlan ? { ...request, stdout: request.stderr } : request;
    return runResumable(around, input, async ({ client, checkpoint, signal, onProgress, reject }) => {
      if (addToList !== undefined) await assertList(client, addToList, signal);
      const { plan, ...report } = await client.contacts.import(contacts, {
        dryRun: isPlan,
        checkpoint,
        concurrency,
        addToList,
        signal,
        onProgress,
        onRejected: ({ contact, ...refused }) => reject({ item: contact, ...refused }),
      });
      for (const row of plan ?? []) request.stdout.write(`${JSON.stringify(row)}\n`);
      return report;
    });
  },
  afterInterrupt: (request) =>
    textOf(request, "checkpoint") === undefined
      ? "Run the same command again: contacts that are done are recognised, none is created twice."
      : "Run the same command again to go on where it stopped.",
};
