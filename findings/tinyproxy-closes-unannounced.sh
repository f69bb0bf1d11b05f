#!/usr/bin/env bash
# What: tinyproxy closes each client connection right after the response, but its HTTP/1.1 response does not announce that.
# Versions: tinyproxy 1.11.1 (Debian 12), as a reverse proxy.
# Guess: the connection stays open, because an HTTP/1.1 response without Connection: close means that (RFC 9112, 9.3).
# Seen: HTTP/1.1 200 OK without a Connection header, and the end of the connection within milliseconds, although the request said
#   Connection: keep-alive and the service keeps its connections open.
# Matters because: a client that sends its next request at once on this connection may lose it, and cannot know whether the service
#   has read it.
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
node -e 'require("http").createServer((request, response) => response.end("fine")).listen(Number(process.argv[1]), "127.0.0.1")' "$service" &
started+=($!)
cat >"$folder/tinyproxy.conf" <<CONF
Port $port
Listen 127.0.0.1
Allow 127.0.0.1
ReversePath "/" "http://127.0.0.1:$service/"
ReverseOnly Yes
LogFile "$folder/log"
CONF
tinyproxy -d -c "$folder/tinyproxy.conf" >/dev/null 2>&1 &
started+=($!)
for each in "$service" "$port"; do until_open "$each"; done

# Prints the status line, the Connection header and whether the server ends the connection within a second of the response.
cat >"$folder/ask.cjs" <<'JS'
const [name, port] = process.argv.slice(2);
const socket = require("net").connect(Number(port), "127.0.0.1");
let text = "";
let timer;
const tell = (end) => {
  clearTimeout(timer);
  const [status] = text.split("\r\n");
  const [connection = "no Connection header"] = /^connection:.*$/im.exec(text) ?? [];
  console.log(`${name}: ${status}, ${connection.trim()}, ${end}`);
  socket.destroy();
};
socket.write("GET / HTTP/1.1\r\nHost: service\r\nConnection: keep-alive\r\n\r\n");
socket.on("data", (part) => {
  text += part;
  timer ??= setTimeout(tell, 1_000, "stays open");
});
socket.on("end", () => tell("closed"));
JS
tinyproxy -v
direct=$(node "$folder/ask.cjs" "the service" "$service")
through=$(node "$folder/ask.cjs" "through tinyproxy" "$port")
echo "$direct"
echo "$through"
[ "$direct" = "the service: HTTP/1.1 200 OK, Connection: keep-alive, stays open" ]
[ "$through" = "through tinyproxy: HTTP/1.1 200 OK, no Connection header, closed" ]
