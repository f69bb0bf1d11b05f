#!/usr/bin/env bash
# What: @fastify/http-proxy repeats a GET that gets a 503 up to 10 times, and waits the Retry-After's seconds as milliseconds.
# Versions: @fastify/http-proxy 11.6.3 (with @fastify/reply-from 12.6.5), fastify 5.12.8, Node 20 and later.
# Guess: a proxy forwards a 503 at once; or, if it retries, it waits as long as the service asks.
# Seen: one GET reaches the service 11 times in less than 2 s, although each answer says Retry-After: 2. With
#   retryDelay: () => null, it reaches the service once. A POST is not repeated.
# Matters because: a service that asks for a pause gets more requests, and each of them counts in its rate limit. The client, which
#   sent one request, cannot see them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @fastify/http-proxy@11.6.3 @fastify/reply-from@12.6.5 fastify@5.12.8

cat >try.cjs <<'JS'
const fastify = require("fastify");
const proxy = require("@fastify/http-proxy");
const http = require("node:http");

const received = [];
const service = http.createServer((request, response) => {
  received.push(request.method);
  response.writeHead(503, { "retry-after": "2" }).end("busy");
});
const through = async (method, replyOptions) => {
  const { port } = service.address();
  const app = fastify();
  await app.register(proxy, { upstream: `http://127.0.0.1:${port}`, replyOptions });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  received.length = 0;
  const since = performance.now();
  const { status } = await fetch(url, { method });
  const result = { status, requests: received.length, isBefore2s: performance.now() - since < 2_000 };
  await app.close();
  return result;
};
service.listen(0, "127.0.0.1", async () => {
  const get = await through("GET");
  const without = await through("GET", { retryDelay: () => null });
  const post = await through("POST");
  console.log(require("@fastify/http-proxy/package.json").version, require("@fastify/reply-from/package.json").version);
  console.log("a GET:", get);
  console.log("a GET with retryDelay: () => null:", without);
  console.log("a POST:", post);
  const stated = get.status === 503 && get.requests === 11 && get.isBefore2s && without.requests === 1 && post.requests === 1;
  process.exit(stated ? 0 : 1);
});
JS
node try.cjs
