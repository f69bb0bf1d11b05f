#!/usr/bin/env bash
# What: Lua scripts in ioredis-mock compute with integers of 32 bits, so a clock in milliseconds is wrong.
# Versions: ioredis-mock 8.13.1 with ioredis 5, Node 20 or later.
# Guess: as in Redis, a script's numbers are doubles: seconds times 1000 is a time.
# Seen: 2000000000 * 1000 is -1454759936. A missing key is `false` for the caller instead of null, and `cjson`, which Redis
#   always has, is missing.
# Matters because: a limiter or a lock which is tested with the mock compares times from two different clocks.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ioredis-mock@8.13.1 ioredis@5.8.2

cat >run.cjs <<'JS'
const Redis = require("ioredis-mock");
const redis = new Redis();
const scripts = [
  "return tonumber(ARGV[1]) * 1000 == 2000000000000 and 'a double' or 'not a double'",
  "return tonumber(ARGV[1]) * 1000",
  "return redis.call('GET', KEYS[1])",
  "return type(cjson)",
];
const run = async () => {
  for (const script of scripts) console.log(await redis.eval(script, 1, "missing", "2000000000"));
};
run().then(() => process.exit());
JS
out=$(node run.cjs)
echo "$out"
[ "$out" = 'not a double
-1454759936
false
nil' ]
