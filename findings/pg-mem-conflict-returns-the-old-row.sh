#!/usr/bin/env bash
# What: in pg-mem, INSERT ... ON CONFLICT DO NOTHING RETURNING returns the row that was already there.
# Versions: pg-mem 3.0.14, pg adapter; PostgreSQL's own answer from PGlite 0.3.14.
# Guess: as in PostgreSQL, the statement returns a row only if it inserted one. Code claims a key by this.
# Seen: pg-mem returns the first claim's row to the second, and counts one row. PostgreSQL returns none. With DO UPDATE
#   and a WHERE that is not met, pg-mem does the same.
# Matters because: in tests with pg-mem, "I got a row, so the key is mine" lets everyone send. Compare the returned claim
#   with your own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pg-mem@3.0.14 @electric-sql/pglite@0.3.14

cat >run.cjs <<'JS'
const { newDb } = require("pg-mem");
const { PGlite } = require("@electric-sql/pglite");
const { Pool } = newDb().adapters.createPg();
const table = "create table claims (key text primary key, owner text)";
const insert = "insert into claims (key, owner) values ($1, $2) on conflict (key)";
const statements = [
  `${insert} do nothing returning owner`,
  `${insert} do update set owner = excluded.owner where claims.owner = 'nobody' returning owner`,
];
const run = async () => {
  for (const [name, database] of [["PostgreSQL", new PGlite()], ["pg-mem", new Pool()]]) {
    await database.query(table);
    await database.query(statements[0], ["welcome-1", "first"]);
    for (const statement of statements) {
      const { rows } = await database.query(statement, ["welcome-1", "second"]);
      console.log(name, JSON.stringify(rows));
    }
  }
};
run().then(() => process.exit());
JS
out=$(node run.cjs)
echo "$out"
[ "$out" = 'PostgreSQL []
PostgreSQL []
pg-mem [{"owner":"first"}]
pg-mem [{"owner":"first"}]' ]
