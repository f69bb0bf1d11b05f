#!/usr/bin/env bash
# What: If the service breaks the connection before it responds, lighttpd answers 500.
# Versions: lighttpd 1.4.69 (Debian 12), mod_proxy.
# Guess: 502 Bad Gateway, as nginx, HAProxy, Apache httpd, Squid, Caddy and Apache Traffic Server answer.
# Seen: 500 Internal Server Error for a lost response, 503 for a service that is down, 504 after read-timeout.
# Matters because: a 500 reads as a bug of the service, whose log has no error. Rules that count or retry gateway errors (502, 503,
#   504) do not match it.
set -euo pipefail

for program in node curl lighttpd; do
  command -v "$program" >/dev/null || PATH="$PATH:/usr/sbin"
  command -v "$program" >/dev/null || { echo "this needs $program: apt-get install lighttpd" >&2; exit 2; }
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
down=$(free_port)
port=$(free_port)
cat >"$folder/service.cjs" <<'JS'
require("http")
  .createServer((request, response) => {
    if (request.url === "/reset") request.socket.destroy();
    else if (request.url !== "/stall") response.end("fine\n");
  })
  .listen(Number(process.argv[2]), "127.0.0.1");
JS
node "$folder/service.cjs" "$service" &
started+=($!)
cat >"$folder/lighttpd.conf" <<CONF
server.modules = ("mod_proxy")
server.document-root = "$folder"
server.errorlog = "$folder/log"
server.bind = "127.0.0.1"
server.port = $port
\$HTTP["url"] == "/down" { proxy.server = ("" => (("host" => "127.0.0.1", "port" => $down))) }
else \$HTTP["url"] =~ "" { proxy.server = ("" => (("host" => "127.0.0.1", "port" => $service, "read-timeout" => 1))) }
CONF
lighttpd -D -f "$folder/lighttpd.conf" &
started+=($!)
for each in "$service" "$port"; do until_open "$each"; done

ask() { curl -sS -o /dev/null -w '%{http_code}' -X POST -d x "http://127.0.0.1:$port/$1"; }
lighttpd -v | sed -n 1p
fine=$(ask fine)
lost=$(ask reset)
late=$(ask stall)
down=$(ask down)
echo "a response: $fine; a lost response: $lost; a response after read-timeout: $late; a service that is down: $down"
[ "$fine $lost $late $down" = "200 500 504 503" ]
