#!/usr/bin/env bash
# What: With retry-on all-retryable-errors, HAProxy sends a POST again after the server has read it.
# Versions: HAProxy 2.6.12 (Debian 12).
# Guess: "retryable" excludes requests that are not idempotent, as in nginx without non_idempotent.
# Seen: the server reads the same POST twice, and the client gets one 200. http-request disable-l7-retry if METH_POST prevents it.
# Matters because: an order is placed twice, or an email is sent twice, and no log of the client shows it.
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
plain=$(free_port)
retrying=$(free_port)
guarded=$(free_port)
cat >"$folder/service.cjs" <<'JS'
// Reads each POST whole and loses the response of every first one.
const seen = {};
require("http")
  .createServer((request, response) => {
    if (request.method === "GET") return response.end(`${seen[request.url] ?? 0}\n`);
    request.resume().on("end", () => {
      seen[request.url] = (seen[request.url] ?? 0) + 1;
      if (seen[request.url] === 1) return request.socket.destroy();
      response.end("made\n");
    });
  })
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
listen plain
  bind 127.0.0.1:$plain
  server one 127.0.0.1:$service
listen retrying
  bind 127.0.0.1:$retrying
  retry-on all-retryable-errors
  server one 127.0.0.1:$service
listen guarded
  bind 127.0.0.1:$guarded
  retry-on all-retryable-errors
  http-request disable-l7-retry if METH_POST
  server one 127.0.0.1:$service
CONF
haproxy -db -f "$folder/haproxy.cfg" 2>"$folder/log" &
started+=($!)
for each in "$service" "$plain" "$retrying" "$guarded"; do until_open "$each"; done

haproxy -v | sed -n 1p
post() { curl -sS -o /dev/null -w "%{http_code}" -X POST -d x "http://127.0.0.1:$1/$2"; }
posts() { curl -sS "http://127.0.0.1:$service/$1"; }
report=""
for case in "plain $plain" "retrying $retrying" "guarded $guarded"; do
  read -r name port <<<"$case"
  status=$(post "$port" "$name")
  report+="$name: the client sees $status, the server $(posts "$name")"$'\n'
done
printf "%s" "$report"
[ "$report" = $'plain: the client sees 502, the server 1\nretrying: the client sees 200, the server 2\nguarded: the client sees 502, the server 1\n' ]
