#!/usr/bin/env bash
# What: http-proxy-middleware answers 504 Gateway Timeout at once if the service is down or breaks the connection.
# Versions: http-proxy-middleware 3.0.11, express 5.2.1, Node 20 and later.
# Guess: 502 Bad Gateway. 504 means that the service did not respond in time, and comes after proxyTimeout.
# Seen: 504 within a second for a closed port, for a connection that the service resets, and (after proxyTimeout) for a service that
#   does not respond. Nothing distinguishes the three.
# Matters because: people look for a slow service and increase time-outs, while the service is down.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund http-proxy-middleware@3.0.11 express@5.2.1

cat >try.cjs <<'JS'
const http = require("node:http");
const express = require("express");
const { createProxyMiddleware } = require("http-proxy-middleware");

const listen = (listener) =>
  new Promise((resolve) => {
    const server = http.createServer(listener).listen(0, "127.0.0.1", () => resolve(server));
  });
const urlOf = (server) => `http://127.0.0.1:${server.address().port}`;
const through = async (target) => {
  const app = express().use(createProxyMiddleware({ target, proxyTimeout: 3_000 }));
  const proxy = await listen(app);
  const since = performance.now();
  const response = await fetch(urlOf(proxy), { method: "POST", body: "x" });
  const text = (await response.text()).replace(/:\d+/, ":port");
  proxy.close();
  return { status: response.status, text, isWithin1s: performance.now() - since < 1_000 };
};
(async () => {
  const resetting = await listen((request) => request.socket.destroy());
  const silent = await listen(() => undefined);
  const gone = await listen(() => undefined);
  const down = urlOf(gone);
  await new Promise((resolve) => gone.close(resolve));
  const results = {
    down: await through(down),
    resets: await through(urlOf(resetting)),
    silent: await through(urlOf(silent)),
  };
  console.log(results);
  const stated =
    Object.values(results).every(({ status, text }) => status === 504 && text === results.down.text) &&
    results.down.isWithin1s &&
    results.resets.isWithin1s &&
    !results.silent.isWithin1s;
  process.exit(stated ? 0 : 1);
})();
JS
node try.cjs
