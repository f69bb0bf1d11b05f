#!/usr/bin/env bash
# What: TypeORM's query() returns the rows for INSERT … RETURNING, but a pair of rows and count for UPDATE … RETURNING.
# Versions: typeorm 1.1.1, pg 8.23.1, PGlite 0.5.14 behind its socket server 0.2.17.
# Guess: query() runs raw SQL, so both statements with RETURNING return the same form: their rows.
# Seen: INSERT returns [{ id: 1 }]. UPDATE returns [[{ id: 1 }], 1]. UPDATE of no row returns [[], 0], an array of length 2.
# Matters because: "rows.length > 0" is true for an UPDATE that changed nothing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps typeorm@1.1.1 pg@8.23.1 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17

cat >try.mjs <<'JS'
import { createServer } from "node:net";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { DataSource } from "typeorm";
const free = createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => free.once("listening", resolve));
const { port } = free.address();
await new Promise((resolve) => free.close(resolve));
const database = await PGlite.create();
const server = new PGLiteSocketServer({ db: database, host: "127.0.0.1", port });
await server.start();
const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
const source = await new DataSource({ type: "postgres", url, poolSize: 1 }).initialize();
await source.query("CREATE TABLE keys (id integer)");
const inserted = await source.query("INSERT INTO keys VALUES (1) RETURNING id");
const updated = await source.query("UPDATE keys SET id = 1 WHERE id = 1 RETURNING id");
const missed = await source.query("UPDATE keys SET id = 1 WHERE id = 2 RETURNING id");
const seen = JSON.stringify([inserted, updated, missed]);
console.log(seen);
await source.destroy();
await server.stop();
await database.close();
if (seen !== '[[{"id":1}],[[{"id":1}],1],[[],0]]') throw new Error("the behaviour is another one");
JS
node try.mjs
