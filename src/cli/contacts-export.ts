import { rm } from "node:fs/promises";
import { type WriteOptions, type Written, writeCsv, writeNdjson } from "../files/index.ts";
import type { Contact, Paged } from "../index.ts";
import { type CliCommand, isSet, type Request, textOf } from "./cli-command.ts";
import { connectionOptions } from "./connect.ts";
import { exitCode } from "./exit-code.ts";
import { type ExportSettings, exportSettings } from "./export-settings.ts";
import { delimiterOption, formatOption } from "./record-file.ts";
import { writeReport } from "./report.ts";
import { type Watched, watch } from "./watch.ts";

/** The list, its progress shown. */
const watched = (list: Paged<Contact>, { bar, waitingFor }: Watched, { now }: Request) => {
  let total: number | undefined;
  let since: { readonly at: number; readonly records: number } | undefined;
  async function* pages(from?: { readonly cursor?: string | undefined }) {
    for await (const page of list.pages(from)) {
      total = page.total ?? undefined;
      yield page;
    }
  }
  async function* contacts(): AsyncGenerator<Contact> {
    for await (const { data } of pages()) yield* data;
  }
  const onWritten = ({ records, resumed = 0 }: Written): void => {
    since ??= { at: now(), records: resumed };
    const perMs = (records - since.records) / Math.max(1, now() - since.at);
    const etaMs = total === undefined || perMs === 0 ? undefined : Math.max(0, total - records) / perMs;
    bar.update({ done: records, total, perSecond: perMs * 1_000, etaMs, waitingFor: waitingFor() });
  };
  return { source: { request: list.request, pages, [Symbol.asyncIterator]: contacts }, onWritten };
};

const write = (
  { file, columns, delimiter }: ExportSettings,
  target: string | NodeJS.WriteStream,
  contacts: AsyncIterable<Contact>,
  options: WriteOptions,
): Promise<Written> =>
  file.format === "csv"
    ? writeCsv(target, contacts, { ...options, columns, delimiter })
    : writeNdjson(target, contacts, options);

/** `touchpoint contacts export`. */
export const contactsExport: CliCommand = {
  shape: {
    name: "contacts export",
    about:
      "Writes every contact to a file, once each, also while others are added and deleted.\n" +
      "The file appears, or is replaced, when it is complete. Until then it grows as <path>.partial.",
    operands: [],
    options: {
      out: {
        type: "string",
        short: "o",
        value: "<path>",
        about: "a .csv or .ndjson file, or one of these with .gz; - for standard output",
      },
      search: {
        type: "string",
        short: "s",
        value: "<text>",
        about: "only contacts that match, for example an email",
      },
      columns: {
        type: "string",
        value: "<a,b,…>",
        about:
          "the columns of a CSV file: email,name,customFields.plan (default: all, with customFields as JSON)",
      },
      ...delimiterOption,
      ...formatOption,
      resume: { type: "boolean", about: "go on where an export to this file was stopped" },
      ...connectionOptions,
      json: { type: "boolean", about: "the report as one line of JSON" },
    },
  },
  run: async (request) => {
    const settings = exportSettings(request);
    const { out, file, search } = settings;
    const isPiped = out === "-";
    const isResumable = !isPiped && !file.isCompressed;
    const checkpoint = isResumable ? `${out}.partial.json` : undefined;
    const startedAt = request.now();
    const watching = await watch(request);
    try {
      if (checkpoint !== undefined && !settings.isResumed) await rm(checkpoint, { force: true });
      const list = watching.client.contacts.list({ search }, { signal: request.interrupt });
      const { source, onWritten } = watched(list, watching, request);
      const options = { checkpoint, onWritten };
      const {
        records,
        bytes,
        resumed = 0,
      } = await write(settings, isPiped ? process.stdout : out, source, options);
      watching.bar.end();
      const elapsedMs = request.now() - startedAt;
      // Standard output holds the contacts.
      const to = isPiped ? { ...request, stdout: request.stderr } : request;
      writeReport(to, { file: out, contacts: records, resumed, bytes, elapsedMs });
      return exitCode.ok;
    } finally {
      await watching.close();
    }
  },
  afterInterrupt: (request) => {
    const out = textOf(request, "out");
    if (out === "-") return "What was written is not complete.";
    return out?.endsWith(".gz") && !isSet(request, "resume")
      ? "Nothing was written."
      : "Run the same command with --resume to go on where it stopped.";
  },
};
