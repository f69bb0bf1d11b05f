#!/usr/bin/env bash
# What: SCAN returns the names of all keys to a user, including keys outside of the patterns that the user may access.
# Versions: redis-server 7.0 (printed), ioredis 6.0.0.
# Guess: a user with ~mine:* sees only the keys mine:*, or Redis refuses SCAN.
# Seen: SCAN returns "mine:1" and "theirs:1". GET theirs:1 fails with NOPERM.
# Matters because: +scan, granted to list the keys of one program, reveals the key names of the others, which may be email addresses.
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
await admin.mset("mine:1", "x", "theirs:1", "x");
await admin.acl("SETUSER", "user", "reset", "on", ">x", "~mine:*", "+get", "+scan", "+info");
const user = new Redis(port, "127.0.0.1", { username: "user", password: "x" });
const [, names] = await user.scan(0);
const read = await user.get("theirs:1").catch(({ message }) => message);
console.log({ names: names.sort(), read });
user.disconnect();
admin.disconnect();
if (names.join() !== "mine:1,theirs:1" || !read.startsWith("NOPERM ")) throw new Error("the behaviour is another one");
JS
node try.mjs "$port"
