#!/usr/bin/env bash
# What: tinyproxy answers a CONNECT without credentials with 407, but one with a wrong password with 401.
# Versions: tinyproxy 1.11.1 (Debian 12).
# Guess: 407 Proxy Authentication Required in both cases, because 401 is the answer of the origin server (RFC 9110, 15.5.2).
# Seen: 407 without credentials, 401 Unauthorized with a wrong password, 200 with the right one.
# Matters because: a program that recognizes a wrong proxy password by the 407 misses it, and reads the 401 as a wrong key for the
#   service, or as a proxy that does not allow the host.
set -euo pipefail

for program in node tinyproxy; do
  command -v "$program" >/dev/null || PATH="$PATH:/usr/sbin"
  command -v "$program" >/dev/null || { echo "this needs $program: apt-get install tinyproxy" >&2; exit 2; }
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
node -e 'require("net").createServer((socket) => socket.end("fine")).listen(Number(process.argv[1]), "127.0.0.1")' "$service" &
started+=($!)
cat >"$folder/tinyproxy.conf" <<CONF
Port $port
Listen 127.0.0.1
Allow 127.0.0.1
BasicAuth me right
LogFile "$folder/log"
CONF
tinyproxy -d -c "$folder/tinyproxy.conf" >/dev/null 2>&1 &
started+=($!)
for each in "$service" "$port"; do until_open "$each"; done

# Prints the status line of the answer to a CONNECT.
cat >"$folder/ask.cjs" <<'JS'
const [port, target, credentials] = process.argv.slice(2);
const socket = require("net").connect(Number(port), "127.0.0.1");
const header = credentials && `Proxy-Authorization: Basic ${Buffer.from(credentials).toString("base64")}\r\n`;
socket.on("error", (error) => console.log(error.code));
socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${header ?? ""}\r\n`);
socket.once("data", (text) => {
  console.log(String(text).split("\r\n")[0]);
  socket.destroy();
});
JS
ask() { node "$folder/ask.cjs" "$port" "127.0.0.1:$service" "$@"; }
tinyproxy -v
none=$(ask)
wrong=$(ask me:wrong)
right=$(ask me:right)
echo "without credentials: $none"
echo "with a wrong password: $wrong"
echo "with the right password: $right"
grep -q "^HTTP/1.[01] 407" <<<"$none"
grep -q "^HTTP/1.[01] 401" <<<"$wrong"
grep -q "^HTTP/1.[01] 200" <<<"$right"
