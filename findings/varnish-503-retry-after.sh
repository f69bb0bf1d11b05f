#!/usr/bin/env bash
# What: Varnish answers 503 with Retry-After: 5 if the service is down or breaks the connection.
# Versions: Varnish 7.1.1 (Debian 12).
# Guess: a gateway's own 503 has no Retry-After, because the gateway does not know when the service returns.
# Seen: Retry-After: 5, even if the service is up and broke only one connection.
# Matters because: after each lost connection, clients that honor Retry-After pause all calls of a key for 5 s. To prevent it,
#   unset the header in vcl_backend_error.
set -euo pipefail

for program in node curl varnishd; do
  command -v "$program" >/dev/null || PATH="$PATH:/usr/sbin"
  command -v "$program" >/dev/null || { echo "this needs $program: apt-get install varnish" >&2; exit 2; }
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
cat >"$folder/default.vcl" <<VCL
vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "$service"; }
sub vcl_recv { return (pass); }
VCL
until_open "$service"
varnishd -F -j none -a "127.0.0.1:$port" -f "$folder/default.vcl" -n "$folder/varnish" -s malloc,16m >"$folder/log" 2>&1 &
started+=($!)
until_open "$port"

varnishd -V 2>&1 | sed -n 1p
answer=$(curl -sS -o /dev/null -D - -X POST -d x "http://127.0.0.1:$port/reset" | tr -d '\r' | grep -iE '^(HTTP|retry-after)')
echo "$answer"
echo "the next request: $(curl -sS "http://127.0.0.1:$port/")"
grep -q "^HTTP/1.1 503" <<<"$answer"
grep -qi "^retry-after: 5$" <<<"$answer"
[ "$(curl -sS "http://127.0.0.1:$port/")" = fine ]
