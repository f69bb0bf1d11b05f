#!/usr/bin/env bash
# What: Varnish's own 503, for a service that is down or breaks the connection, says Retry-After: 5.
# Versions: Varnish 7.1.1 (Debian 12).
# Guess: a 503 that a gateway makes up has no Retry-After: it knows nothing of the service's return.
# Seen: Retry-After: 5, also where the service is there and broke one connection only.
# Matters because: clients that honour Retry-After wait 5 s after each lost connection, all calls of a key at once; unset it in vcl_backend_error.
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
