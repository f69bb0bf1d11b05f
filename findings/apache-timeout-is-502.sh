#!/usr/bin/env bash
# What: Apache httpd answers 502, not 504, if the ProxyPass timeout ends a request.
# Versions: Apache httpd 2.4.71 (Debian 12), mod_proxy_http.
# Guess: 504 Gateway Timeout, as nginx, HAProxy, Squid and Caddy answer.
# Seen: 502 Proxy Error, 'Error reading from remote server', exactly when the timeout ends.
# Matters because: a client that reads a 502 as 'the service is down' repeats a request that the service is still processing.
set -euo pipefail

for program in node curl apache2; do
  command -v "$program" >/dev/null || PATH="$PATH:/usr/sbin"
  command -v "$program" >/dev/null || { echo "this needs $program: apt-get install apache2" >&2; exit 2; }
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
require("http").createServer(() => undefined).listen(Number(process.argv[2]), "127.0.0.1");
JS
node "$folder/service.cjs" "$service" &
started+=($!)
modules=/usr/lib/apache2/modules
user=""
[ "$(id -u)" -ne 0 ] || user=$'User www-data\nGroup www-data'
cat >"$folder/httpd.conf" <<CONF
ServerRoot $folder
ServerName localhost
PidFile $folder/pid
DefaultRuntimeDir $folder
Mutex pthread
ErrorLog $folder/error.log
$user
Listen 127.0.0.1:$port
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule proxy_module $modules/mod_proxy.so
LoadModule proxy_http_module $modules/mod_proxy_http.so
ProxyPass / http://127.0.0.1:$service/ timeout=1
CONF
apache2 -f "$folder/httpd.conf" -D FOREGROUND &
started+=($!)
for each in "$service" "$port"; do until_open "$each"; done

apache2 -v | sed -n 1p
seen=$(curl -sS -o "$folder/page" -w "%{http_code} after %{time_total} s" -X POST -d x "http://127.0.0.1:$port/")
echo "$seen: $(grep -o 'Error reading from remote server' "$folder/page")"
grep -q "^502 after 1\." <<<"$seen"
