#!/usr/bin/env bash
# What: If a user may not run a command, Redis reports ERR inside a script and NOPERM outside of a script.
# Versions: redis-server 7.0 (printed), ioredis 6.0.0.
# Guess: a missing permission is NOPERM everywhere, so that a program can distinguish it from a temporary error.
# Seen: GET by itself: NOPERM. GET in EVAL: "ERR The user executing the script can't run this command or subcommand".
# Matters because: a program that checks the code treats missing permissions as a temporary error, and waits or retries in vain.
set -euo pipefail
folder=$(mktemp -d)
port=$((20000 + RANDOM % 20000))
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts ioredis@6.0.0
redis-server --version
redis-server --port "$port" --bind 127.0.0.1 --save "" >/dev/null &
server=$!

cat >try.mjs <<'JS'
import { Redis } from "ioredis";
const port = Number(process.argv[2]);
const admin = new Redis(port, "127.0.0.1", { maxRetriesPerRequest: null });
await admin.acl("SETUSER", "user", "reset", "on", ">x", "~*", "+eval", "+info");
const user = new Redis(port, "127.0.0.1", { username: "user", password: "x" });
const told = (command) => command.then(() => "done", ({ message }) => message);
const alone = await told(user.get("key"));
const inScript = await told(user.eval("return redis.call('GET', KEYS[1])", 1, "key"));
console.log({ alone, inScript });
user.disconnect();
admin.disconnect();
if (!alone.startsWith("NOPERM ") || !inScript.startsWith("ERR ")) throw new Error("the behaviour is another one");
JS
node try.mjs "$port"
