#!/usr/bin/env bash
# What: Caddy answers 502 to a body over request_body max_size if reverse_proxy handles the request.
# Versions: Caddy 2.6.2 (Debian 12).
# Guess: 413 Content Too Large, as the directive's documentation says and as nginx answers.
# Seen: 502 without a body. The service has received the beginning of the request, or nothing.
# Matters because: a client reads a 502 as a temporary failure, and repeats a request that can never succeed.
set -euo pipefail

for program in node curl caddy; do
  command -v "$program" >/dev/null || PATH="$PATH:/usr/sbin"
  command -v "$program" >/dev/null || { echo "this needs $program: apt-get install caddy" >&2; exit 2; }
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
  .createServer((request, response) => request.resume().on("end", () => response.end("fine\n")))
  .listen(Number(process.argv[2]), "127.0.0.1");
JS
node "$folder/service.cjs" "$service" &
started+=($!)
cat >"$folder/Caddyfile" <<CONF
{
	admin off
	auto_https off
}
http://127.0.0.1:$port {
	request_body {
		max_size 100KB
	}
	reverse_proxy 127.0.0.1:$service
}
CONF
HOME=$folder XDG_DATA_HOME=$folder XDG_CONFIG_HOME=$folder \
  caddy run --adapter caddyfile --config "$folder/Caddyfile" 2>"$folder/log" &
started+=($!)
for each in "$service" "$port"; do until_open "$each"; done

echo "Caddy $(caddy version)"
small=$(curl -sS -o /dev/null -w "%{http_code}" -d x "http://127.0.0.1:$port/")
head -c 200000 /dev/zero | tr '\0' x >"$folder/large"
large=$(curl -sS -o /dev/null -w "%{http_code}" --data-binary "@$folder/large" "http://127.0.0.1:$port/")
echo "one byte: $small; 200 kB over a limit of 100 kB: $large"
[ "$small" = 200 ]
[ "$large" = 502 ]
