import { readNdjson } from "../files/index.ts";
import type { EventInput } from "../index.ts";
import { type CliCommand, exitCode, jsonOption, print, type Request, UsageError } from "./command.ts";
import { connect, connectionOptions } from "./connect.ts";
import { duration } from "./progress-bar.ts";
import { inputFormatOf } from "./record-file.ts";
import { openRecords } from "./rejections.ts";
import { describeReport, resumableOptions, runResumable } from "./run-resumable.ts";

const eventsOf = (request: Request) => {
  const [file = ""] = request.operands;
  if (inputFormatOf(file, request) !== "ndjson")
    throw new UsageError(`${file}: events can be read only from NDJSON, in a file such as events.ndjson`);
  const formatAdvice = file === "-" ? "Events can be read only from NDJSON" : undefined;
  return openRecords<EventInput>(file, readNdjson, formatAdvice);
};

export const forecast: CliCommand = {
  name: "forecast",
  about:
    "Estimates how long it takes to ingest an NDJSON file within the rate limits.\n" +
    "It also shows how many days that takes, and how many events will be older than 72 hours when they are sent.\n" +
    "It sends nothing and needs no key. - reads standard input.",
  example: "touchpoint forecast events.ndjson",
  operands: ["<file>"],
  options: { ...connectionOptions, ...jsonOption },
  run: async (request) => {
    const { records } = eventsOf(request);
    // The forecast sends nothing, so it needs neither a key nor a base URL.
    await using client = await connect(request, { apiKey: "none", baseUrl: "http://localhost" });
    const forecast = await client.events.forecast(records, { signal: request.interrupt });
    const { events, durationMs, days, tooOld = 0 } = forecast;
    await print(request, forecast, describeReport({ events, takes: duration(durationMs), days, tooOld }));
    return exitCode.ok;
  },
  afterInterrupt: "Nothing was sent.",
};

/** @throws UsageError for anything but `source=<name>`. */
const idFromOf = (request: Request): { readonly source: string } | undefined => {
  const text = request.values["id-from"];
  if (text === undefined) return undefined;
  const source = /^source=(.+)$/s.exec(text)?.[1];
  if (source === undefined) throw new UsageError(`--id-from must be source=<name>, got "${text}"`);
  return { source };
};

export const eventsIngest: CliCommand = {
  name: "events ingest",
  about:
    "Records every event of an NDJSON file, once each, however often the command is stopped and started again.\n" +
    "An event without an id gets one derived from its content, so identical lines are one event.\n" +
    "- reads standard input.",
  example: "touchpoint events ingest events.ndjson --checkpoint events.json",
  operands: ["<file>"],
  options: {
    "--id-from <source=name>":
      "derive event ids from this name, the line number and the content, so that identical lines are separate events",
    ...resumableOptions,
  },
  run: async (request) => {
    const input = eventsOf(request);
    const idFrom = idFromOf(request);
    let leastMs: number | undefined;
    return runResumable(
      request,
      input,
      ({ client, onProgress, reject }) =>
        client.events.ingest(input.records, {
          checkpoint: request.values.checkpoint,
          idFrom,
          signal: request.interrupt,
          onProgress: (progress) => {
            onProgress(progress, leastMs);
            const remaining = Math.max(0, (input.total() ?? 0) - progress.done);
            void client.events.forecast(remaining).then(({ durationMs }) => {
              leastMs = durationMs;
            });
          },
          onRejected: ({ event, ...refused }) => reject({ ...refused, rejected: event }),
        }),
      // Refuse unknown fields: the service ignores a field such as `timestamp`, and would record an old event as new.
      { unknownFields: { mode: "error" } },
    );
  },
  afterInterrupt:
    "Run the same command again. The service recognizes recorded events, and records none twice.",
};
