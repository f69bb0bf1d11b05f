#!/usr/bin/env bash
# What: with `binary: true`, pg decodes the bytes of a number as UTF-8 text, and then reads the number from that text.
# Versions: pg 8.23.1, PGlite 0.5.14 behind its socket server 0.2.17.
# Guess: `binary` changes only the format on the wire: 200 stays 200, or the driver throws an error.
# Seen: 100 returns 100, but 200 returns 239, 60000 as bigint returns '61375', and -1 returns -272646673. There is no error.
# Matters because: a test with small numbers passes, and every id, count and time above 127 can be another one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts pg@8.23.1 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17

cat >try.mjs <<'JS'
import { createServer } from "node:net";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import pg from "pg";
const free = createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => free.once("listening", resolve));
const { port } = free.address();
await new Promise((resolve) => free.close(resolve));
const database = await PGlite.create();
const server = new PGLiteSocketServer({ db: database, host: "127.0.0.1", port });
await server.start();
const read = async (binary) => {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres", binary });
  await client.connect();
  const text = "SELECT $1::int AS a, $2::int AS b, $3::bigint AS c, $4::int AS d";
  const { rows } = await client.query(text, [100, 200, 60000, -1]);
  await client.end();
  return JSON.stringify(rows[0]);
};
const [asText, asBinary] = [await read(false), await read(true)];
console.log({ asText, asBinary });
await server.stop();
await database.close();
if (asText !== '{"a":100,"b":200,"c":"60000","d":-1}' || asBinary !== '{"a":100,"b":239,"c":"61375","d":-272646673}')
  throw new Error("the behaviour is another one");
JS
node try.mjs
