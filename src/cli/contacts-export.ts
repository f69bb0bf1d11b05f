import type { Contact, WalkedPage } from "../index.ts";
import { type CliCommand, type Request, textOf } from "./cli-command.ts";
import { exitCode } from "./exit-code.ts";
import { type ExportSettings, exportSettings } from "./export-settings.ts";
import { limitsOption } from "./limits-option.ts";
import { writeReport } from "./report.ts";
import { type Exported, type ExportStart, resumableExport } from "./resumable-export.ts";
import { type Watched, watch } from "./watch.ts";
import { writeContacts } from "./write-contacts.ts";

type Pages = (start: ExportStart) => AsyncGenerator<WalkedPage<Contact>>;

const pagesOf = (
  { search }: ExportSettings,
  { client, bar, waitingFor }: Watched,
  { now, interrupt }: Request,
): Pages =>
  async function* ({ cursor, done }) {
    const startedAt = now();
    let read = 0;
    for await (const page of client.contacts.list({ search }, { signal: interrupt, cursor }).pages()) {
      yield page;
      read += page.data.length;
      const total = page.total ?? undefined;
      const perMs = read / (now() - startedAt);
      const etaMs = total === undefined ? undefined : Math.max(0, total - done - read) / perMs;
      bar.update({ done: done + read, total, perSecond: perMs * 1_000, etaMs, waitingFor: waitingFor() });
    }
  };

async function* contactsIn(pages: AsyncIterable<WalkedPage<Contact>>): AsyncGenerator<Contact> {
  for await (const { data } of pages) yield* data;
}

const write = async (settings: ExportSettings, pages: Pages): Promise<Exported> => {
  if (!settings.file.isCompressed) return resumableExport(settings, process.env.TOUCHPOINT_BASE_URL, pages);
  const contacts = contactsIn(pages({ cursor: undefined, done: 0 }));
  return { ...(await writeContacts(settings.out, contacts, settings)), resumed: 0 };
};

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
        about: "a .csv or .ndjson file, or one of these with .gz",
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
      resume: { type: "boolean", about: "go on where an export to this file was stopped" },
      ...limitsOption,
      json: { type: "boolean", about: "the report as one line of JSON" },
    },
  },
  run: async (request) => {
    const settings = exportSettings(request);
    const startedAt = request.now();
    const watched = await watch(request);
    try {
      const { records, bytes, resumed } = await write(settings, pagesOf(settings, watched, request));
      watched.bar.end();
      const elapsedMs = request.now() - startedAt;
      writeReport(request, { file: settings.out, contacts: records, resumed, bytes, elapsedMs });
      return exitCode.ok;
    } finally {
      await watched.close();
    }
  },
  afterInterrupt: (request) =>
    textOf(request, "out")?.endsWith(".gz")
      ? "Nothing was written."
      : "Run the same command with --resume to go on where it stopped.",
};
