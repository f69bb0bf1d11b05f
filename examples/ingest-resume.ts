// Records every event of a file once, even if you kill the program at any time and start it again.
import { Client, type EventInput } from "touchpoint-sdk";
import { readNdjson } from "touchpoint-sdk/files";

const client = new Client();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort(new Error("interrupted: start again to continue")));

const source = readNdjson<EventInput>("events.ndjson", {
  onInvalid: ({ line, error }) => console.error(`line ${line} is not an event: ${error.message}`),
});

const report = await client.events.ingest(source, {
  // The position up to which all events have a result.
  checkpoint: "events.checkpoint",
  signal: stop.signal,
  onProgress: ({ done, perSecond }) => console.error(`${done} events, ${Math.round(perSecond)} a second`),
  onRejected: ({ index, status, error }) =>
    console.error(`event ${index}: ${status ?? "not sent"}: ${error}`),
});
console.log(report);

await client.close();
