#!/usr/bin/env bash
# What: a connection that is lost in the middle of a statement ends the process under Kysely, and only rejects the statement under
#   pool.query() of the same pg pool.
# Versions: kysely 0.29.9, pg 8.23.1, PGlite 0.5.14 behind its socket server 0.2.17.
# Guess: the statement is rejected; pool.on("error") covers what the pool does by itself.
# Seen: pool.query() rejects with "Connection terminated unexpectedly". Kysely takes a client from the pool and listens to no error of
#   it, and the pool's listener is for idle clients: the statement is rejected, and the client's event "error" ends the process.
# Matters because: a failover of the database ends each process that was using it, in the middle of other work. It takes
#   pool.on("connect", (client) => client.on("error", …)).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps kysely@0.29.9 pg@8.23.1 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17

cat >try.mjs <<'JS'
import { connect, createServer } from "node:net";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
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
const connectionString = `postgres://postgres@127.0.0.1:${await listening(proxy)}/postgres`;
let uncaught = "";
process.on("uncaughtException", ({ message }) => {
  uncaught = message;
});
const lives = async (what, queryOf, prepare = () => undefined) => {
  const pool = new pg.Pool({ connectionString, max: 1 });
  pool.on("error", () => undefined);
  prepare(pool);
  const query = queryOf(pool);
  await query();
  isLosing = true;
  const rejected = await query().then(() => "answered", ({ message }) => message);
  isLosing = false;
  await new Promise((resolve) => setTimeout(resolve, 100));
  console.log(`${what}: ${rejected}; uncaught: ${uncaught || "none"}`);
  uncaught = "";
};
const ofPg = (pool) => () => pool.query("SELECT 1");
const ofKysely = (pool) => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  return () => db.executeQuery(CompiledQuery.raw("SELECT 1"));
};
await lives("pool.query()", ofPg);
await lives("Kysely", ofKysely);
await lives("Kysely with a listener for each client", ofKysely, (pool) =>
  pool.on("connect", (client) => client.on("error", () => undefined)),
);
process.exit();
JS
out=$(node try.mjs)
echo "$out"
[ "$out" = 'pool.query(): Connection terminated unexpectedly; uncaught: none
Kysely: Connection terminated unexpectedly; uncaught: Connection terminated unexpectedly
Kysely with a listener for each client: Connection terminated unexpectedly; uncaught: none' ]
