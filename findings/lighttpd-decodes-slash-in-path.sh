#!/usr/bin/env bash
# What: lighttpd decodes %2F in the path before it forwards the request, so that one path segment becomes two.
# Versions: lighttpd 1.4.69 (Debian 12), mod_proxy.
# Guess: a reverse proxy forwards the path as it came, as nghttpx, h2o, tinyproxy and Apache Traffic Server do.
# Seen: the service receives /contacts/a/b for /contacts/a%2Fb, and /contacts/a%20b unchanged. With
#   "url-path-2f-decode" => "disable" in server.http-parseopts, it receives /contacts/a%2Fb.
# Matters because: an id that contains a slash leads to another resource, or to a 404 for a record that exists.
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
port=$(free_port)
exact=$(free_port)
cat >"$folder/service.cjs" <<'JS'
require("http")
  .createServer((request, response) => response.end(request.url))
  .listen(Number(process.argv[2]), "127.0.0.1");
JS
node "$folder/service.cjs" "$service" &
started+=($!)
# Starts lighttpd on a port. The second argument is more configuration.
start() {
  cat >"$folder/$1.conf" <<CONF
server.modules = ("mod_proxy")
server.document-root = "$folder"
server.errorlog = "$folder/log"
server.bind = "127.0.0.1"
server.port = $1
proxy.server = ("" => (("host" => "127.0.0.1", "port" => $service)))
$2
CONF
  lighttpd -D -f "$folder/$1.conf" &
  started+=($!)
}
start "$port" ""
start "$exact" 'server.http-parseopts = ("url-path-2f-decode" => "disable", "url-path-2f-reject" => "disable")'
for each in "$service" "$port" "$exact"; do until_open "$each"; done

ask() { curl -sS --path-as-is "http://127.0.0.1:$1$2"; }
lighttpd -v | sed -n 1p
slash=$(ask "$port" /contacts/a%2Fb)
space=$(ask "$port" /contacts/a%20b)
set=$(ask "$exact" /contacts/a%2Fb)
echo "requested /contacts/a%2Fb, received $slash"
echo "requested /contacts/a%20b, received $space"
echo "requested /contacts/a%2Fb without url-path-2f-decode, received $set"
[ "$slash $space $set" = "/contacts/a/b /contacts/a%20b /contacts/a%2Fb" ]
