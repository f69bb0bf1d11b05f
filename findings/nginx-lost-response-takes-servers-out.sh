#!/usr/bin/env bash
# What: After one broken connection to each of two upstream servers, nginx answers 502 at once, for seconds, without contacting either.
# Versions: nginx 1.22.1 (Debian 12).
# Guess: max_fails detects servers that are down. One lost response does not exclude a healthy server.
# Seen: after one reset by each server, the next 8 requests get 502 within milliseconds, although both servers would answer. It
#   happens neither with one upstream server nor with max_fails=0.
# Matters because: two lost responses cause ten seconds of errors that the service's log does not show.
set -euo pipefail

for program in node curl nginx; do
  command -v "$program" >/dev/null || PATH="$PATH:/usr/sbin"
  command -v "$program" >/dev/null || { echo "this needs $program: apt-get install nginx" >&2; exit 2; }
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

one=$(free_port)
two=$(free_port)
port=$(free_port)
cat >"$folder/service.cjs" <<'JS'
let seen = 0;
require("http")
  .createServer((request, response) => {
    seen += 1;
    if (request.url === "/reset") return request.socket.destroy();
    response.end(`${seen}\n`);
  })
  .listen(Number(process.argv[2]), "127.0.0.1");
JS
for each in "$one" "$two"; do
  node "$folder/service.cjs" "$each" &
  started+=($!)
done
user=""
[ "$(id -u)" -ne 0 ] || user="user root;"
cat >"$folder/nginx.conf" <<CONF
$user
daemon off;
pid $folder/pid;
error_log $folder/error.log;
events {}
http {
  access_log off;
  client_body_temp_path $folder;
  proxy_temp_path $folder;
  fastcgi_temp_path $folder;
  uwsgi_temp_path $folder;
  scgi_temp_path $folder;
  upstream service { server 127.0.0.1:$one; server 127.0.0.1:$two; }
  server { listen 127.0.0.1:$port; location / { proxy_pass http://service; } }
}
CONF
nginx -c "$folder/nginx.conf" -p "$folder" -e "$folder/error.log" &
started+=($!)
for each in "$one" "$two" "$port"; do until_open "$each"; done

nginx -v 2>&1
status() { curl -sS -o /dev/null -w "%{http_code}" -X POST -d x "http://127.0.0.1:$port$1"; }
echo "two responses are lost: $(status /reset) $(status /reset)"
after=""
for _ in $(seq 8); do after+="$(status /) "; done
echo "the next eight, though both servers are up: $after"
echo "a server itself: $(curl -sS -o /dev/null -w "%{http_code}" "http://127.0.0.1:$one/")"
grep -o "no live upstreams" "$folder/error.log" | sort | uniq -c
[ "$after" = "502 502 502 502 502 502 502 502 " ]
