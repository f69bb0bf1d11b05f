// Records the events of a file. Arguments: the file, the checkpoint, how many lines there are.
import { Client, type EventInput } from "touchpoint-sdk";
import { readNdjson } from "touchpoint-sdk/files";
import { progressBar } from "../../src/cli/progress-bar.ts";
import { tell } from "./child.ts";
import { limitsAt } from "./limits.ts";

const [file = "", checkpoint = "", lines = ""] = process.argv.slice(2);
const client = new Client({ limits: limitsAt(process.env.DEMO_SPEED) });
// A source that is read as a stream has no known length; these are told it.
const total = Number(lines);
const bar = progressBar(process.stderr, () => performance.now());

const events = readNdjson<EventInput>(file, {
  onInvalid: ({ line }) => tell({ kind: "unreadable", line }),
});
const report = await client.events.ingest(events, {
  checkpoint,
  // Half of what a second allows, so that there is something to see, and to kill, between two batches.
  batchSize: 25,
  onProgress: (progress) => {
    const { done, perSecond } = progress;
    const etaMs = perSecond > 0 ? ((total - done) / perSecond) * 1_000 : undefined;
    bar.update({ ...progress, total, etaMs });
    void tell({ kind: "progress", done });
  },
  onRejected: ({ index, error }) => tell({ kind: "rejected", index, error }),
});
bar.end();
await client.close();
await tell({ kind: "ingested", report });
