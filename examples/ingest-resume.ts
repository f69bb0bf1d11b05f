// Records every event of a file. Killed at any instant and started again, it ends with each event recorded once.
import { Client, type EventInput } from "touchpoint-sdk";
import { readNdjson } from "touchpoint-sdk/files";

const client = new Client();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort(new Error("interrupted: start again to go on")));

const source = readNdjson<EventInput>("events.ndjson", {
  onInvalid: ({ line, error }) => console.error(`line ${line} is no event: ${error.message}`),
});

const report = await client.events.ingest(source, {
  // Covers only events that are settled, with nothing open before them.
  checkpoint: "events.checkpoint",
  signal: stop.signal,
  onProgress: ({ done, perSecond }) => console.error(`${done} events, ${Math.round(perSecond)} a second`),
  onRejected: ({ index, status, error }) =>
    console.error(`event ${index}: ${status ?? "not sent"}: ${error}`),
});
console.log(report);

await client.close();
