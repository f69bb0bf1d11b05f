#!/usr/bin/env bash
# What: If proxy-chain cannot reach the target of a CONNECT, it closes the connection without a byte.
# Versions: proxy-chain 3.0.1, Node 20 and later.
# Guess: an error status such as 502, as for a plain GET through the same proxy.
# Seen: after a CONNECT to a closed port, the connection closes without a response. A GET of the same port gets 594 Connection Refused.
# Matters because: a client cannot tell a service that is down from a proxy that is down, and some clients reconnect at once.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund proxy-chain@3.0.1

cat >try.mjs <<'JS'
import net from "node:net";
import { Server } from "proxy-chain";

const ask = (port, text) =>
  new Promise((resolve) => {
    let answer = "";
    const socket = net.connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("error", (error) => (answer += error.code)).on("close", () => resolve(answer));
    socket.on("data", (part) => (answer += part));
  });
const closedPort = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
const server = new Server({ host: "127.0.0.1", port: 0 });
await server.listen();
const target = `127.0.0.1:${await closedPort()}`;
const tunnel = await ask(server.port, `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
const get = await ask(server.port, `GET http://${target}/ HTTP/1.1\r\nHost: ${target}\r\nConnection: close\r\n\r\n`);
const [status = ""] = get.split("\r\n");
console.log("CONNECT:", JSON.stringify(tunnel));
console.log("GET:", JSON.stringify(status));
process.exit(tunnel === "" && /^HTTP\/1\.1 5\d\d/.test(status) ? 0 : 1);
JS
node try.mjs
