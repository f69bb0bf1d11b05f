// Records the events of a file. Arguments: the file, the checkpoint, the number of lines.
import { Client, type EventInput } from "touchpoint-sdk";
import { readNdjson } from "touchpoint-sdk/files";
import { progressBar } from "../../src/cli/progress-bar.ts";
import { report as send } from "./child.ts";
import { limitsAt } from "./limits.ts";

const [file = "", checkpoint = "", lines = ""] = process.argv.slice(2);
const client = new Client({ limits: limitsAt(process.env.DEMO_SPEED) });
// A stream has no known length, so the parent process passes it.
const total = Number(lines);
const bar = progressBar(process.stderr, () => performance.now());

const events = readNdjson<EventInput>(file, {
  onInvalid: ({ line }) => send({ kind: "unreadable", line }),
});
const report = await client.events.ingest(events, {
  checkpoint,
  // The limit allows only two such batches a second. The pause after a batch is time to show progress and to kill the process.
  batchSize: 25,
  onProgress: (progress) => {
    const { done, perSecond } = progress;
    const etaMs = perSecond > 0 ? ((total - done) / perSecond) * 1_000 : undefined;
    bar.update({ ...progress, total, etaMs });
    void send({ kind: "progress", done });
  },
  onRejected: ({ index, error }) => send({ kind: "rejected", index, error }),
});
bar.end();
await client.close();
await send({ kind: "ingested", report });
