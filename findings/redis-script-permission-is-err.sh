#!/usr/bin/env bash
# What: Redis reports a command that a script's user may not run as ERR, and the same command outside of a script as NOPERM.
# Versions: redis-server 7.0 (printed), ioredis 6.0.0.
# Guess: a missing permission is NOPERM everywhere, so that a program can tell it from an error that may pass.
# Seen: GET alone: NOPERM; GET in EVAL: "ERR The user executing the script can't run this command or subcommand".
# Matters because: who goes by the code takes a wrong user for a passing error, and waits or retries for nothing.
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
