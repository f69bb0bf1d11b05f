#!/usr/bin/env bash
# What: Kysely's CamelCasePlugin also renames the columns of raw SQL: in the rows, but not in the statement.
# Versions: kysely 0.28.18, PGlite 0.5.17.
# Guess: Kysely changes neither raw SQL nor its rows: SELECT once_key returns once_key.
# Seen: SELECT 1 AS once_key returns { onceKey: 1 }. With withoutPlugins(), it returns { once_key: 1 }.
# Matters because: a library that runs its own SQL through a Kysely instance reads undefined from every column with an underscore.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts kysely@0.28.18 @electric-sql/pglite@0.5.17

cat >try.mjs <<'JS'
import { PGlite } from "@electric-sql/pglite";
import { CamelCasePlugin, CompiledQuery, Kysely, PostgresAdapter, PostgresQueryCompiler } from "kysely";
const database = await PGlite.create();
const connection = {
  executeQuery: async ({ sql, parameters }) => ({ rows: (await database.query(sql, [...parameters])).rows }),
};
const nothing = async () => undefined;
const dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => ({ init: nothing, acquireConnection: async () => connection, releaseConnection: nothing, destroy: nothing }),
  createIntrospector: () => ({}),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
const kysely = new Kysely({ dialect, plugins: [new CamelCasePlugin()] });
const query = CompiledQuery.raw("SELECT 1 AS once_key");
const [[withPlugin], [without]] = [
  (await kysely.executeQuery(query)).rows,
  (await kysely.withoutPlugins().executeQuery(query)).rows,
];
console.log({ withPlugin, without });
await database.close();
if (withPlugin.onceKey !== 1 || without.once_key !== 1) throw new Error("the behaviour is another one");
JS
node try.mjs
