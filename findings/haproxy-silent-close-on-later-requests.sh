#!/usr/bin/env bash
# What: If the server's response is lost, HAProxy answers a connection's first request with 502, but on later requests it closes the connection without a byte.
# Versions: HAProxy 2.6.12 (Debian 12).
# Guess: 502 in both cases, because the client's connection is independent of the server's.
# Seen: the first request of a connection gets 502 Bad Gateway. On the second, the connection closes without a response.
# Matters because: some HTTP clients repeat a request if a kept-open connection closes silently (browsers do, even for a POST).
#   HAProxy has already forwarded the request, so the server gets it twice.
set -euo pipefail

for program in node curl haproxy; do
  command -v "$program" >/dev/null || PATH="$PATH:/usr/sbin"
  command -v "$program" >/dev/null || { echo "this needs $program: apt-get install haproxy" >&2; exit 2; }
done

folder=$(mktemp -d)
started=()
finish() {
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

free_port() {
  node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}

until_open() {
  for _ in $(seq 100); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
    sleep 0.05
  done
  echo "nothing listens on $1" >&2
  exit 2
}

service=$(free_port)
port=$(free_port)
cat >"$folder/service.cjs" <<'JS'
require("http")
  .createServer((request, response) => (request.url === "/reset" ? request.socket.destroy() : response.end("fine\n")))
  .listen(Number(process.argv[2]), "127.0.0.1");
JS
node "$folder/service.cjs" "$service" &
started+=($!)
cat >"$folder/haproxy.cfg" <<CONF
defaults
  mode http
  timeout connect 1s
  timeout client 5s
  timeout server 5s
frontend in
  bind 127.0.0.1:$port
  default_backend service
backend service
  server one 127.0.0.1:$service
CONF
haproxy -db -f "$folder/haproxy.cfg" 2>"$folder/log" &
started+=($!)
for each in "$service" "$port"; do until_open "$each"; done

# One connection each: the paths are requested one after the other.
cat >"$folder/ask.cjs" <<'JS'
const [port, ...paths] = process.argv.slice(2);
const socket = require("net").connect(Number(port), "127.0.0.1");
const seen = [];
const next = () => {
  const path = paths.shift();
  if (path === undefined) return socket.end();
  socket.write(`POST ${path} HTTP/1.1\r\nHost: service\r\nContent-Length: 1\r\n\r\nx`);
};
socket.on("connect", next);
socket.on("data", (text) => {
  seen.push(String(text).split("\r\n")[0]);
  next();
});
socket.on("error", (error) => seen.push(error.code));
socket.on("close", () => console.log(`${seen.join(", ")}, closed`));
JS
haproxy -v | sed -n 1p
first=$(node "$folder/ask.cjs" "$port" /reset)
later=$(node "$folder/ask.cjs" "$port" / /reset)
echo "a lost response, first request: $first"
echo "a lost response, second request: $later"
grep -q "^HTTP/1.1 502" <<<"$first"
[ "$later" = "HTTP/1.1 200 OK, closed" ]
