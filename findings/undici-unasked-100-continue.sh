#!/usr/bin/env bash
# What: undici and Node's fetch break the connection if a server sends an interim `100 Continue` that the client did not request.
# Versions: undici 7.30.2, the fetch of Node 20.20 to 26.10; node:http of the same Node, curl.
# Guess: the client ignores the interim response, as RFC 9110 (15.2) requires and as undici does with 102 and 103.
# Seen: undici.request and fetch fail with "bad response". node:http and curl return the 200 that follows.
# Matters because: the server has received the complete request. A caller that reads the error as "not sent" repeats the POST,
#   and the server applies it twice. Some servers send 100 Continue for every POST.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund undici@7.30.2

cat >try.mjs <<'JS'
import { execFile } from "node:child_process";
import http from "node:http";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { request } from "undici";

// Reads each request to its end, sends `interim`, then a complete 200.
const serve = async (interim) => {
  const server = createServer((socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      text += bytes;
      if (!text.endsWith("{}")) return;
      text = "";
      socket.write(`HTTP/1.1 ${interim}\r\n\r\n`);
      setImmediate(() => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
};
const post = { method: "POST", body: "{}" };
const overHttp = (url) =>
  new Promise((resolve, reject) => {
    const sent = http.request(url, { method: "POST", headers: { "content-length": 2 } }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += chunk)).on("end", () => resolve(text));
    });
    sent.on("error", reject).end("{}");
  });
const clients = {
  "undici.request": async (url) => (await request(url, post)).body.text(),
  fetch: async (url) => (await fetch(url, post)).text(),
  "node:http": overHttp,
  curl: async (url) => (await promisify(execFile)("curl", ["-s", "-d", "{}", url])).stdout,
};
const results = {};
for (const interim of ["100 Continue", "102 Processing", "103 Early Hints"]) {
  const { server, url } = await serve(interim);
  for (const [name, call] of Object.entries(clients)) {
    const told = await call(url).catch((error) => error.cause?.message ?? error.message);
    results[`${interim}: ${name}`] = told;
  }
  server.close();
}
console.log(process.version, results);
const stated =
  results["100 Continue: undici.request"] === "bad response" &&
  results["100 Continue: fetch"] === "bad response" &&
  Object.entries(results).filter(([, told]) => told === "ok").length === 10;
process.exit(stated ? 0 : 1);
JS
node try.mjs
