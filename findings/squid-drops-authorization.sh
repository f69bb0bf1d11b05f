#!/usr/bin/env bash
# What: Squid as a reverse proxy drops the client's Authorization header, even if no authentication is configured.
# Versions: Squid 5.7 (Debian 12).
# Guess: a reverse proxy forwards Authorization, as nginx, HAProxy, Apache httpd, Varnish and Caddy do.
# Seen: the service receives no Authorization header. With login=PASSTHRU on cache_peer, it does.
# Matters because: every call with an API key gets 401 'key missing', and people look for the fault in the client.
set -euo pipefail

for program in node curl squid; do
  command -v "$program" >/dev/null || PATH="$PATH:/usr/sbin"
  command -v "$program" >/dev/null || { echo "this needs $program: apt-get install squid" >&2; exit 2; }
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
without=$(free_port)
with=$(free_port)
cat >"$folder/service.cjs" <<'JS'
require("http")
  .createServer((request, response) => response.end(`authorization: ${request.headers.authorization ?? "none"}\n`))
  .listen(Number(process.argv[2]), "127.0.0.1");
JS
node "$folder/service.cjs" "$service" &
started+=($!)

# $1: the port. $2: more options for cache_peer. Each instance needs its own name for its shared memory.
start_squid() {
  cat >"$folder/$1.conf" <<CONF
http_port 127.0.0.1:$1 accel defaultsite=127.0.0.1 no-vhost
cache_peer 127.0.0.1 parent $service 0 no-query originserver name=service $2
http_access allow all
cache deny all
pid_filename none
access_log none
cache_log /dev/null
shutdown_lifetime 0 seconds
pinger_enable off
CONF
  squid -N -n "finding$1" -f "$folder/$1.conf" &
  started+=($!)
}
chmod 755 "$folder"
start_squid "$without" ""
start_squid "$with" "login=PASSTHRU"
for port in "$service" "$without" "$with"; do until_open "$port"; done

squid -v | sed -n 1p
# Squid may answer the first request after its start with an error page.
ask() { curl -sS -f --retry 5 --retry-delay 1 --retry-all-errors -H "Authorization: Bearer key" "http://127.0.0.1:$1/" 2>/dev/null; }
plain=$(ask "$without")
passed=$(ask "$with")
echo "without login=PASSTHRU: $plain"
echo "with login=PASSTHRU: $passed"
[ "$plain" = "authorization: none" ]
[ "$passed" = "authorization: Bearer key" ]
