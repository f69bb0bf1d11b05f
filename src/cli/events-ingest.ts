import { readNdjson } from "../files/index.ts";
import type { EventInput } from "../index.ts";
import { type CliCommand, textOf, UsageError } from "./command.ts";
import { recordFile } from "./record-file.ts";
import { readableRecords } from "./rejections.ts";
import { resumableOptions, runResumable } from "./run-resumable.ts";

/** `touchpoint events ingest`. */
export const eventsIngest: CliCommand = {
  shape: {
    name: "events ingest",
    about:
      "Records every event of an NDJSON file, once each, however often the command is stopped and started again.\n" +
      "An event without an id gets one made of its content, so identical lines are one event.\n" +
      "- reads standard input. A file that --rejected wrote can be given once it is corrected.",
    operands: ["<file>"],
    options: resumableOptions,
  },
  run: async (request) => {
    const [file = ""] = request.operands;
    if (recordFile(file, request).format !== "ndjson")
      throw new UsageError(`${file}: events are read from NDJSON only`);
    return runResumable(request, ({ client, checkpoint, signal, onProgress, reject }) => {
      // Whatever else a line holds: ingest checks each record, and rejects what is no event.
      const events = readableRecords((onInvalid) =>
        readNdjson(file === "-" ? process.stdin : file, {
          onInvalid,
          name: file === "-" ? "standard input" : file,
        }),
      ) as AsyncIterable<EventInput>;
      return client.events.ingest(events, {
        checkpoint,
        signal,
        onProgress,
        onRejected: ({ event, ...refused }) => reject({ item: event, ...refused }),
      });
    });
  },
  afterInterrupt: (request) =>
    textOf(request, "checkpoint") === undefined
      ? "Run the same command again: events that were recorded are recognised, none is recorded twice."
      : "Run the same command again to go on where it stopped.",
};
