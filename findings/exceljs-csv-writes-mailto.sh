#!/usr/bin/env bash
# What: ExcelJS writes a linked cell to CSV as its link, not as its text, so email addresses become mailto: links.
# Versions: exceljs 4.4.0, Node 20 or later.
# Guess: the CSV has what the cell shows. Excel links an address by itself when someone types it.
# Seen: the cell that shows ann@example.com becomes mailto:ann@example.com; a cell with bold letters becomes JSON.
#   The text without a link stays.
# Matters because: a service that does not check the address stores a contact who can never get an email.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund exceljs@4.4.0

cat >run.cjs <<'JS'
const { Workbook } = require("exceljs");
const run = async () => {
  const book = new Workbook();
  const linked = { text: "ann@example.com", hyperlink: "mailto:ann@example.com" };
  const bold = { richText: [{ text: "An" }, { text: "n", font: { bold: true } }] };
  book.addWorksheet("people").addRows([["email", "name"], [linked, bold], ["bob@example.com", "Bob"]]);
  // Written and loaded again, as a file from Excel would be.
  const loaded = new Workbook();
  await loaded.xlsx.load(await book.xlsx.writeBuffer());
  console.log(String(await loaded.csv.writeBuffer()));
};
run();
JS
out=$(node run.cjs)
echo "$out"
[ "$out" = 'email,name
mailto:ann@example.com,"{""richText"":[{""text"":""An""},{""font"":{""bold"":true},""text"":""n""}]}"
bob@example.com,Bob' ]
