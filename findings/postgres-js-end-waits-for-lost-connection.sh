#!/usr/bin/env bash
# What: after postgres.js lost a connection in the middle of a statement, it works on over another of its pool, and its end() never resolves.
# Versions: postgres.js 3.4.9, PGlite 0.5.14 behind its socket server 0.2.17.
# Guess: end() waits for the queries that run; none does, so it resolves at once, as it does when nothing was lost.
# Seen: the statement is rejected with CONNECTION_CLOSED, the next one opens another connection and answers, and end() still waits
#   after 3 seconds; end({ timeout: 1 }) resolves after one.
# Matters because: a worker that awaits end() when it is told to stop hangs until it is killed, if a connection was lost in
#   its life.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps postgres@3.4.9 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17

cat >try.mjs <<'JS'
import { connect, createServer } from "node:net";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import postgres from "postgres";
const listening = async (server) => {
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return server.address().port;
};
const free = createServer();
const port = await listening(free);
await new Promise((resolve) => free.close(resolve));
const database = await PGlite.create();
const server = new PGLiteSocketServer({ db: database, host: "127.0.0.1", port });
await server.start();
// It passes all on, and ends the connection in place of the response to a statement when it is told to.
let isLosing = false;
const proxy = createServer((near) => {
  const far = connect(port, "127.0.0.1");
  near.on("data", (bytes) => far.write(bytes)).on("close", () => far.destroy()).on("error", () => undefined);
  far.on("data", (bytes) => (isLosing ? near.destroy() : near.write(bytes))).on("error", () => undefined);
});
const url = `postgres://postgres@127.0.0.1:${await listening(proxy)}/postgres`;
const lives = async (isLost, options) => {
  const sql = postgres(url, { max: 2 });
  const query = () => sql.unsafe("SELECT 1 AS one").then(([row]) => row.one, ({ code }) => code);
  const seen = [await query()];
  isLosing = isLost;
  seen.push(await query());
  isLosing = false;
  seen.push(await query());
  const late = new Promise((resolve) => setTimeout(resolve, 3_000, "still waits"));
  seen.push(await Promise.race([sql.end(options).then(() => "ended"), late]));
  return seen.join(", ");
};
console.log(`nothing lost: ${await lives(false)}`);
console.log(`one lost, with a time-out: ${await lives(true, { timeout: 1 })}`);
console.log(`one lost: ${await lives(true)}`);
process.exit();
JS
out=$(node try.mjs)
echo "$out"
[ "$out" = 'nothing lost: 1, 1, 1, ended
one lost, with a time-out: 1, CONNECTION_CLOSED, 1, ended
one lost: 1, CONNECTION_CLOSED, 1, still waits' ]
