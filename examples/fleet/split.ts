// Queues the lines of a file, 10,000 a job: npx tsx examples/fleet/split.ts <workspace> <file>
import { createReadStream } from "node:fs";
import { basename, resolve } from "node:path";
import { Queue } from "bullmq";
import { connect, type LineRange, queueName } from "./queue.ts";

const [workspace = "", path = "", lines = "10000"] = process.argv.slice(2);
const linesPerJob = Number(lines);
const file = resolve(path);

async function* lineRanges(): AsyncGenerator<LineRange> {
  let [start, at, line] = [0, 0, 0];
  const rangeTo = (end: number): LineRange => {
    const firstLine = Math.floor((line - 1) / linesPerJob) * linesPerJob + 1;
    return { workspace, file, firstLine, start, end };
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, end + 1)) {
      line += 1;
      if (line % linesPerJob !== 0) continue;
      yield rangeTo(at + end);
      start = at + end + 1;
    }
    at += chunk.length;
  }
  line += 1;
  if (start < at) yield rangeTo(at - 1);
}

const redis = connect();
const queue = new Queue<LineRange>(queueName, { connection: redis });
let jobs = 0;
for await (const range of lineRanges()) {
  jobs += 1;
  // The same range always gets the same id, so it becomes one job. The priority lets all workspaces start at once.
  const jobId = `${workspace}-${basename(file)}-${range.firstLine}`;
  const tries = { attempts: 100, backoff: { type: "fixed", delay: 60_000 } };
  await queue.add("record", range, { jobId, priority: jobs, ...tries });
}
console.log(`${workspace}: ${jobs} jobs`);
await queue.close();
await redis.quit();
