#!/usr/bin/env bash
# What: SheetJS writes a number of 12 digits or more to CSV as it is shown in a narrow cell, with 6 digits left.
# Versions: xlsx 0.18.5, Node 20 or later.
# Guess: sheet_to_csv keeps the digits of a number, as sheet_to_json does.
# Seen: 491701234567 becomes 4.91701E+11. With `rawNumbers: true` the digits stay. 11 digits always stay, so a test with a
#   shorter phone number does not show it.
# Matters because: an import replaces good phone numbers and ids by rounded ones.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund xlsx@0.18.5

cat >run.cjs <<'JS'
const { utils } = require("xlsx");
const sheet = utils.aoa_to_sheet([["phone"], [49170123456], [491701234567]]);
const line = (text) => text.trim().split("\n").join(" ");
console.log("csv", line(utils.sheet_to_csv(sheet)));
console.log("csv with rawNumbers", line(utils.sheet_to_csv(sheet, { rawNumbers: true })));
console.log("json", utils.sheet_to_json(sheet).map(({ phone }) => phone).join(" "));
JS
out=$(node run.cjs)
echo "$out"
[ "$out" = 'csv phone 49170123456 4.91701E+11
csv with rawNumbers phone 49170123456 491701234567
json 49170123456 491701234567' ]
